/** A page as a browser reads it, by parse5, which follows the HTML specification. */
import { type DefaultTreeAdapterTypes, parse } from "parse5";

type Node = DefaultTreeAdapterTypes.Node;

/** An element of a page. */
export class Element {
  readonly localName: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly Element[];
  readonly textContent: string;

  constructor(node: DefaultTreeAdapterTypes.Element) {
    this.localName = node.tagName;
    this.attributes = new Map(node.attrs.map(({ name, value }) => [name, value]));
    this.children = childrenOf(node);
    this.textContent = textOf(node);
  }

  get(name: string): string | null {
    return this.attributes.get(name) ?? null;
  }

  /** Elements within it, in their order. Parts such as `td`, `#id`, `.class`, `[type=text]`, with blanks between. */
  all(selector: string): Element[] {
    const [last = "", ...outer] = selector.split(" ").toReversed();
    const rest = outer.toReversed().join(" ");
    const within = rest === "" ? [this] : this.all(rest);
    const found = within.flatMap((each) =>
      [...each.descendants()].filter((element) => element.matches(last)),
    );
    return [...new Set(found)];
  }

  first(selector: string): Element | undefined {
    return this.all(selector)[0];
  }

  *descendants(): Iterable<Element> {
    for (const child of this.children) {
      yield child;
      yield* child.descendants();
    }
  }

  matches(selector: string): boolean {
    const [, tag = "", rest = ""] = /^([a-z0-9]*)(.*)$/s.exec(selector) ?? [];
    if (tag !== "" && tag !== this.localName) return false;
    return [...rest.matchAll(/#([\w-]+)|\.([\w-]+)|\[([\w-]+)(?:=([^\]]*))?\]/g)].every(
      ([, id, name, attribute, value]) => {
        if (id !== undefined) return this.get("id") === id;
        if (name !== undefined) return (this.get("class") ?? "").split(" ").includes(name);
        const given = this.get(attribute ?? "");
        return value === undefined ? given !== null : given === value;
      },
    );
  }
}

function childrenOf(node: DefaultTreeAdapterTypes.ParentNode): Element[] {
  return node.childNodes.flatMap((child) => ("tagName" in child ? [new Element(child)] : []));
}

function textOf(node: Node): string {
  if ("value" in node) return node.value;
  return "childNodes" in node ? node.childNodes.map(textOf).join("") : "";
}

/** The root element. */
export function parsePage(html: string): Element {
  const [root] = childrenOf(parse(html));
  if (root === undefined) throw new TypeError("there is no element");
  return root;
}

/** Cells of the table with this caption, row by row, each by its heading. */
export function tableRecords(page: Element, caption: string): Record<string, string>[] {
  const table = page.all("table").find((each) => each.first("caption")?.textContent === caption);
  if (table === undefined) throw new TypeError(`no table ${caption}`);
  const heads = table.all("thead th").map(({ textContent }) => textContent);
  return table
    .all("tbody tr")
    .map((row) =>
      Object.fromEntries(heads.map((head, place) => [head, row.children[place]?.textContent.trim() ?? ""])),
    );
}
