export type Child = Node | string | number | null | undefined | false | readonly Child[];

type Value = string | number | boolean | null | undefined;

export interface Properties {
  /** Listeners. Everything else becomes an attribute. */
  readonly on?: Readonly<Record<string, (event: never) => unknown>>;
  readonly [attribute: string]: Value | Properties['on'];
}

/**
 * Creates an element. Strings become text nodes, never HTML, so that responses and payloads are safe
 * to show.
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

/** Sets or removes an attribute, if that changes anything. */
export function setAttribute(element: Element, name: string, value: Value): void {
  if (value === false || value === null || value === undefined) {
    element.removeAttribute(name);
    return;
  }
  const text = value === true ? '' : String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

/** Replaces the children of an element. */
export function setChildren(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...nodesOf(children));
}

/** Sets the text if it differs, so that screen readers do not repeat it. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** An element of index.html. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no element ${id}.`);
  return element;
}

function nodesOf(children: readonly Child[]): (Node | string)[] {
  return children.flatMap((child): (Node | string)[] => {
    if (child === null || child === undefined || child === false) return [];
    if (typeof child === 'string' || child instanceof Node) return [child];
    return typeof child === 'number' ? [String(child)] : nodesOf(child);
  });
}
