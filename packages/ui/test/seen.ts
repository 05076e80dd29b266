import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';

/** Runs in the page: everything that a person reads and can use, line by line. */
const READ = `(selector) => {
  const INLINE = new Set(['SPAN', 'STRONG', 'CODE', 'TIME', 'EM', 'B', 'KBD']);
  const marked = (one) => [one.disabled && 'disabled', one.getAttribute('aria-busy') && 'busy',
    one.getAttribute('aria-pressed') === 'true' && 'pressed', one.checked && 'on',
    one.getAttribute('aria-current') && 'current'].filter(Boolean).map((word) => ' ' + word).join('');
  const labelOf = (one) => one.getAttribute('aria-label')
    ?? one.closest('label')?.querySelector('span')?.textContent ?? '';
  const flat = (text) => text.replace(/\\s+/g, ' ').replace(/ (?=[.,](?: |$))/g, '').trim();
  const inner = (one) => flat(linesOf(one.childNodes).join(' / '));
  function linesOf(nodes) {
    const lines = [];
    let line = '';
    const end = () => { if (flat(line) !== '') lines.push(flat(line)); line = ''; };
    const write = (node) => {
      if (node.nodeType === 3) { line += node.data; return; }
      if (node.nodeType !== 1 || node.matches('script, table.visually-hidden, .legend, [hidden]')) return;
      if (node.matches('.chart svg')) {
        for (const bar of node.querySelectorAll('rect:has(title), line')) {
          end();
          const place = ['x', 'y', 'width', 'height', 'x1'].map((name) => bar.getAttribute(name));
          line += bar.textContent + ' at ' + place.filter((one) => one !== null).map((one) => Math.round(one)).join(' ');
        }
        end();
        return;
      }
      if (node.matches('svg')) return;
      if (node.tagName !== 'DIALOG' && getComputedStyle(node).display === 'none') return;
      if (node.matches('a')) { line += '[' + inner(node) + '](' + node.getAttribute('href') + marked(node) + ')'; return; }
      if (node.matches('button')) { line += ' <' + (node.getAttribute('aria-label') ?? inner(node)) + marked(node) + '> '; return; }
      if (node.matches('select')) {
        line += ' {' + labelOf(node) + ': ' + (node.selectedOptions[0]?.textContent ?? '') + marked(node) + ' of '
          + [...node.options].map((one) => one.textContent).join(', ') + '} ';
        return;
      }
      if (node.matches('textarea, input')) {
        const text = node.matches('[type=checkbox]') ? '' : ': ' + (node.value || node.placeholder);
        line += ' {' + labelOf(node) + text + marked(node) + '} ';
        return;
      }
      if (node.matches('label')) { for (const one of node.querySelectorAll('input, textarea, .hint')) write(one); return; }
      if (node.matches('progress')) { line += ' {' + labelOf(node) + (node.hasAttribute('value') ? ' ' + node.value + '/' + node.max : '') + '} '; return; }
      if (node.matches('.badge')) { line += '(' + node.dataset.tone + ': ' + inner(node) + ')'; return; }
      if (node.matches('summary')) { end(); line += inner(node) + (node.parentNode.open ? ' open' : ''); end(); return; }
      if (INLINE.has(node.tagName)) {
        const gap = node.tagName === 'SPAN' ? ' ' : '';
        line += gap;
        node.childNodes.forEach(write);
        line += gap;
        return;
      }
      end();
      if (node.matches('tr')) line += [...node.children].map(inner).join(' | ') + marked(node);
      else if (node.matches('dt')) line += inner(node) + ': ' + inner(node.nextElementSibling);
      else if (node.matches('dd')) return;
      else {
        if (/^H[1-6]$/.test(node.tagName)) line += '# ';
        if (node.dataset.tone && !node.matches('.legend li')) line += node.dataset.tone + ': ';
        node.childNodes.forEach(write);
      }
      end();
    };
    nodes.forEach(write);
    end();
    return lines;
  }
  return [...document.querySelectorAll(selector)].flatMap((one) => linesOf([one]));
}`;

const SOON_MS = 5_000;

/**
 * Expects what a script of a page finds to be exactly these lines, soon.
 * @param find a function of the page, as its text: it gets the selector
 */
export async function expectLines(
  page: Page,
  find: string,
  selector: string,
  lines: readonly string[],
): Promise<void> {
  const found = () => page.evaluate<string[]>(`(${find})(${JSON.stringify(selector)})`);
  const wanted = JSON.stringify(lines);
  const end = performance.now() + SOON_MS;
  let shown = await found();
  while (JSON.stringify(shown) !== wanted && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    shown = await found();
  }
  expect(shown).toEqual(lines);
}

/**
 * Expects a part of a page to show exactly this, soon: line by line, with `[link](address)`, `<button>`,
 * `{field: value}`, `(tone: badge)`, and the cells of a row between bars. What closed details have is told, too: the
 * summary of those that are open ends with `open`.
 */
export const expectSeen = (page: Page, selector: string, lines: readonly string[]) =>
  expectLines(page, READ, selector, lines);
