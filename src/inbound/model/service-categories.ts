/** What services are for, in the order of the catalogue. */
export const serviceCategories = [
  "code_and_deployment",
  "monitoring",
  "payments_and_shops",
  "messages",
  "customers",
  "work",
  "identity",
  "social_media",
  "machine_learning",
  "cloud",
] as const;
