/** JSON text that is written once and used in many responses. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  static of(value: object): JsonText {
    return new JsonText(JSON.stringify(value));
  }

  static list(elements: readonly JsonText[]): JsonText {
    return new JsonText(`[${elements.map(({ text }) => text).join(",")}]`);
  }
}

export function writeJson(value: unknown): string {
  return value instanceof JsonText ? value.text : (JSON.stringify(value) ?? "null");
}
