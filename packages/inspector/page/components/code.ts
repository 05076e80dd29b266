import { h, setAttribute } from '../dom/element.ts';
import { copyButton } from './action-button.ts';

/** Longer texts are not highlighted. */
const MOST_COLOURED = 20_000;
const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** A body: formatted if it is JSON, with a button that shows it as sent. */
export function bodyBlock(what: string, body: string): HTMLElement {
  const pretty = prettyJson(body);
  const code = h('code', null);
  const block = h('pre', { class: 'code', tabindex: 0, role: 'region', 'aria-label': what }, code);
  const raw = h('button', { type: 'button', class: 'ghost small' }, 'Raw');
  const draw = (asItCame: boolean) => {
    setAttribute(raw, 'aria-pressed', String(asItCame));
    const text = asItCame || pretty === undefined ? body : pretty;
    const coloured = pretty !== undefined && text.length <= MOST_COLOURED;
    code.replaceChildren(...(coloured ? colours(text) : [text]));
  };
  draw(false);
  raw.addEventListener('click', () => {
    draw(raw.getAttribute('aria-pressed') !== 'true');
  });
  const tools = h(
    'div',
    { class: 'tools' },
    pretty !== undefined && raw,
    copyButton(what, () => body),
  );
  return h(
    'div',
    { class: 'block' },
    h('div', { class: 'block-head' }, h('h5', null, what), tools),
    block,
  );
}

function prettyJson(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return undefined;
  }
}

function colours(text: string): (Node | string)[] {
  const nodes: (Node | string)[] = [];
  let at = 0;
  for (const match of text.matchAll(TOKENS)) {
    const [whole, string, colon, word] = match;
    nodes.push(text.slice(at, match.index));
    at = match.index + whole.length;
    const kind = string ? (colon ? 'key' : 'string') : word ? 'word' : 'number';
    nodes.push(h('span', { class: `json-${kind}` }, string ?? whole), colon ?? '');
  }
  nodes.push(text.slice(at));
  return nodes;
}

/** One row per header. */
export function headerTable(
  what: string,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): HTMLElement {
  const rows = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? ''].flat().map((one) => h('div', null, h('dt', null, name), h('dd', null, one))),
  );
  return h('dl', { class: 'headers', 'aria-label': what }, rows);
}
