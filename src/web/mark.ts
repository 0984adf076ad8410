/** The product's mark as a data URI, for icons and pictures: a hook. `hasAlert` adds a red dot. */
export function markUri(hasAlert = false): string {
  const dot = hasAlert
    ? '<circle cx="18.5" cy="5.5" r="5.5" fill="#d92d35" stroke="#fff" stroke-width="1.5"/>'
    : "";
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="6" fill="#2f56d3"/><path d="M9.5 5h8M13.5 5v9a3.75 3.75 0 1 1-7.5 0v-1.5l2.25 1.75" fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"/>${dot}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
