/** An invalid file. Each message is one line: file, line, and what to write instead. */
export class FileError extends Error {
  override readonly name = "FileError";
  readonly messages: readonly string[];

  constructor(...messages: readonly string[]) {
    super(messages.join("\n"));
    this.messages = messages;
  }
}
