/** Where in a JSON text the members of a list of objects stand. */

export interface JsonPlace {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

export interface ObjectPlaces {
  readonly start: JsonPlace;
  /** Of the values, by name; of a member that is there twice that of the last. */
  readonly members: ReadonlyMap<string, JsonPlace>;
  /** A member that is there twice; undefined: none is. */
  readonly doubled: string | undefined;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;

/**
 * Places of the objects of a list, and of their members' values by name. The text is JSON: a list of objects whose
 * values are no lists or objects.
 */
export function placesIn(text: string): ObjectPlaces[] {
  const objects: { start: JsonPlace; members: Map<string, JsonPlace>; doubled: string | undefined }[] = [];
  const lines = lineStarts(text);
  let key: string | undefined;
  let line = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    while ((lines[line + 1] ?? Number.POSITIVE_INFINITY) <= index) line += 1;
    const place = { line: line + 1, column: index - (lines[line] ?? 0) + 1 };
    if (token === "{") objects.push({ start: place, members: new Map(), doubled: undefined });
    else if (token === "}" || token === ",") key = undefined;
    else if (token === ":" || token === "[" || token === "]") continue;
    else if (key === undefined) key = String(JSON.parse(token));
    else {
      const object = objects.at(-1);
      if (object?.members.has(key)) object.doubled ??= key;
      object?.members.set(key, place);
    }
  }
  return objects;
}

/** Line and column of an offset in a text. */
export function placeOf(text: string, offset: number): JsonPlace {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
