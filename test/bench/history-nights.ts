/** Mapped at each of three destinations. */
export const FIELDS = 30;
const BUCKET_ITEMS = 16_000;
/** IDs of items begin with what orders them, as those of the service do. */
const ID_STEP = 10_000;

/** One night of made-up tables, and where its database is made. */
export interface HistoryNight {
  readonly night: string;
  /** Runs are numbered from 1. */
  readonly sequence: number;
  readonly items: number;
  /** Fields of a hundred that have a value. */
  readonly share: number;
  /** One item of so many is not as in the first night; 0: none. */
  readonly everyItem: number;
  /** External name of one of the fields. */
  readonly name: string;
  /** Whether the first destination supports custom field mappings. */
  readonly supported: boolean;
  readonly directory: string;
  readonly temporaryDirectory: string;
  readonly database: string;
  readonly previous: WrittenHistory | undefined;
}

/** A history that a night has written. */
export interface WrittenHistory {
  readonly run: string;
  readonly directory: string;
  /** By table. */
  readonly files: Readonly<Record<string, readonly string[]>>;
}

type Difference = Pick<HistoryNight, "night" | "everyItem" | "name" | "supported">;

export const DIFFERENCES: readonly Difference[] = [
  { night: "first", everyItem: 0, name: "a name", supported: true },
  { night: "one item in a hundred changed", everyItem: 100, name: "a name", supported: true },
  {
    night: "an external field name changed, so all items with the field",
    everyItem: 100,
    name: "another",
    supported: true,
  },
  {
    night: "a destination changed, so all items in all fields",
    everyItem: 100,
    name: "another",
    supported: false,
  },
];

/** SQL of an item's ID. */
export function itemId(item: string): string {
  return `printf('%08x%016x', ${item} * ${ID_STEP}, ${item})`;
}

/** The first item of each bucket. */
export function itemBounds(items: number): string[] {
  const hex = (number: number, digits: number) => number.toString(16).padStart(digits, "0");
  return Array.from({ length: Math.ceil(items / BUCKET_ITEMS) }, (_, bucket) => {
    const item = bucket * BUCKET_ITEMS;
    return hex(item * ID_STEP, 8) + hex(item, 16);
  });
}
