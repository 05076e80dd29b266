export type Child = Node | string | number | null | undefined | false | readonly Child[];

type Value = string | number | boolean | null | undefined;

export interface Properties {
  /** Listeners; everything else becomes an attribute. */
  readonly on?: Readonly<Record<string, (event: never) => unknown>>;
  readonly [attribute: string]: Value | Properties['on'];
}

/**
 * Makes an element. Children that are texts become text nodes, never HTML: what receivers and
 * payloads say is shown as it came.
 * @param properties `true` sets an empty attribute; `false`, `null` and `undefined` set none
 */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties | null,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (name === 'on') continue;
    setAttribute(element, name, value as Value);
  }
  for (const [type, listener] of Object.entries(properties?.on ?? {}))
    element.addEventListener(type, listener as EventListener);
  element.append(...nodesOf(children));
  return element;
}

/** Sets or takes away an attribute; leaves it alone where nothing changes. */
export function setAttribute(element: Element, name: string, value: Value): void {
  if (value === false || value === null || value === undefined) {
    element.removeAttribute(name);
    return;
  }
  const text = value === true ? '' : String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

/** Puts other children into an element. */
export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...nodesOf(children));
}

/** Writes a text where it differs, so that screen readers are not disturbed for nothing. */
export function write(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** An element of the page's own HTML. */
export function part(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no part ${id}.`);
  return element;
}

function nodesOf(children: readonly Child[]): (Node | string)[] {
  return children.flatMap((child): (Node | string)[] => {
    if (child === null || child === undefined || child === false) return [];
    if (typeof child === 'string' || child instanceof Node) return [child];
    return typeof child === 'number' ? [String(child)] : nodesOf(child);
  });
}
