import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expectLines } from './seen.ts';

/** The names of the icons, by their strokes. */
const ICONS = Object.fromEntries(
  Array.from(
    readFileSync(new URL('../src/icon.tsx', import.meta.url), 'utf8').matchAll(
      /(\w+):\s+'(M[^']+)'/g,
    ),
    ([, name = '', strokes = '']) => [strokes, name],
  ),
);

/** Runs in the page: what is not read as a text, each line once, in the order of the page. */
const MARKS = `(selector) => {
  const icons = ${JSON.stringify(ICONS)};
  const flat = (text) => (text ?? '').replace(/\\s+/g, ' ').trim();
  const nameOf = (one) => one.getAttribute('aria-label')
    ?? flat(document.getElementById(one.getAttribute('aria-labelledby'))?.textContent);
  const lines = new Set();
  const add = (...parts) => lines.add(parts.filter((part) => part !== '' && part !== null && part !== undefined).join(' '));
  const given = (one, ...names) => names.filter((name) => one.hasAttribute(name))
    .map((name) => name + (one.getAttribute(name) === '' ? '' : '=' + one.getAttribute(name))).join(' ');
  for (const one of document.querySelectorAll(selector + ', ' + selector + ' *')) {
    const text = flat(one.textContent);
    if (one.matches('.table')) add('table', nameOf(one) + ':', [...one.querySelectorAll('th')].map((th) =>
      [th.textContent, th.dataset.align, th.hasAttribute('data-minor') ? 'minor' : '', th.scope === 'col' ? '' : 'without scope']
        .filter(Boolean).join(' ')).join(', '));
    else if (one.matches('td')) {
      const th = one.closest('table').querySelectorAll('th')[one.cellIndex];
      for (const name of ['align', 'minor'])
        if (one.dataset[name] !== th.dataset[name]) add('cell of', th.textContent, 'without', name);
      if (one.closest('.table') && one.dataset.column !== th.textContent) add('cell of', th.textContent, 'named', one.dataset.column);
    } else if (one.matches('section, nav, search, form, dl, ol, figure, pre, dialog, main') && nameOf(one)) add(one.localName, nameOf(one));
    else if (one.matches('time')) {
      const utc = one.dateTime.replace('T', ' ').slice(0, 19) + ' UTC';
      if (!one.title.includes(utc)) add('time', text, 'of', utc, 'titled', one.title);
    }
    else if (one.matches('svg.icon')) add('icon', icons[one.firstElementChild.getAttribute('d')], 'of',
      flat(one.parentElement.textContent) || one.parentElement.getAttribute('aria-label'));
    else if (one.matches('button')) add('button', text || nameOf(one), '(' + one.className + ')', one.title && 'titled ' + one.title,
      one.type === 'button' ? '' : one.type);
    else if (one.matches('input, textarea')) add(one.localName, given(one, 'type', 'role', 'name', 'aria-label'), text,
      flat(one.closest('label')?.querySelector('span')?.textContent),
      given(one, 'required', 'maxlength', 'step', 'autocomplete', 'spellcheck'));
    else if (one.matches('a[target]')) add('link', text, given(one, 'target', 'rel'));
    else if (one.matches('[title]')) add(one.localName, text, 'titled', one.title);
    if (one.matches('[role]:not(input)')) add('role', one.getAttribute('role'), one.localName,
      one.getAttribute('role') === 'region' ? nameOf(one) : text.slice(0, 30));
    if (one.matches('[tabindex]:not([tabindex="-1"])')) add('focus', nameOf(one) || text.slice(0, 30));
  }
  return [...lines];
}`;

/**
 * Expects a part of a page to have exactly these marks beside its texts, soon: the columns of its tables, and which stand at
 * the end or go first, the tooltips, icons and kinds of buttons, what screen readers are told, and where the focus may go.
 */
export const expectMarks = (page: Page, selector: string, lines: readonly string[]) =>
  expectLines(page, MARKS, selector, lines);

const TOKENS = [
  ...['page', 'surface', 'raised', 'sunken', 'hover', 'chosen', 'line', 'line-strong', 'text'],
  ...[
    'muted',
    'accent',
    'accent-fill',
    'good',
    'good-soft',
    'wait',
    'wait-soft',
    'bad',
    'bad-soft',
  ],
  ...['info', 'info-soft', 'odd', 'odd-soft', 'pale'],
];

/** Runs in the page: the colours of whatever says something by colour, each line once, by the names of the theme. */
const COLOURS = `(selector) => {
  const probe = document.body.appendChild(document.createElement('i'));
  const names = { 'rgba(0, 0, 0, 0)': '' };
  for (const name of ${JSON.stringify(TOKENS)}) {
    probe.style.color = 'var(--' + name + ')';
    names[getComputedStyle(probe).color] ??= name;
  }
  probe.remove();
  const named = (colour) => names[colour] ?? colour;
  const lines = new Set();
  for (const one of document.querySelectorAll(selector)) {
    if (one.matches('.legend li')) {
      lines.add('legend ' + one.dataset.tone + ': ' + named(getComputedStyle(one, '::before').backgroundColor));
      continue;
    }
    const style = getComputedStyle(one);
    if (one.matches('rect, line')) {
      lines.add(one.localName + ' ' + (one.dataset.tone ?? one.getAttribute('class')) + ': '
        + named(one.localName === 'rect' ? style.fill : style.stroke));
      continue;
    }
    const within = one.matches('.tile-value, .status-line, .dot') ? one.closest('[data-tone], [data-connection]') : one;
    const what = [one.getAttribute('class') || one.localName, within?.dataset.tone, within?.dataset.connection,
      one.hasAttribute('data-bad') && 'bad', one.hasAttribute('aria-current') && 'current',
      one.getAttribute('aria-pressed') === 'true' && 'pressed'];
    const back = named(style.backgroundColor);
    const edges = ['Left', 'Top', 'Bottom'].filter((side) => parseFloat(style['border' + side + 'Width']) >= 2)
      .map((side) => ', ' + side.toLowerCase() + ' ' + named(style['border' + side + 'Color']));
    lines.add(what.filter(Boolean).join(' ') + ': ' + named(style.color) + (back && ' on ' + back) + edges.join(''));
  }
  return [...lines];
}`;

/**
 * Expects what a selector finds to have exactly these colours, soon: each kind once, as text, background and thick borders.
 * Open the page in dark colours, of which no two are the same.
 */
export const expectColours = (page: Page, selector: string, lines: readonly string[]) =>
  expectLines(page, COLOURS, selector, lines);
