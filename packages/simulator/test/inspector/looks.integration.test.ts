import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import type { Page } from 'playwright-core';
import { openWithWorld, WORLD } from './world.ts';
import { testResources } from '../support/test-resources.ts';

/** Runs in the page: the colors of elements, by their names in the theme: of the text, behind it, at its left. */
const COLORS_OF = `(elements) => {
  const probe = document.body.appendChild(document.createElement('i'));
  const names = new Map([['rgba(0, 0, 0, 0)', '-'], ['rgb(255, 255, 255)', 'white']]);
  for (const name of 'accent accent-fill bad bad-soft chosen good good-soft hover info info-soft line line-strong muted odd odd-soft page raised sunken surface text wait wait-soft'.split(' ')) {
    probe.style.color = 'var(--' + name + ')';
    names.set(getComputedStyle(probe).color, name);
  }
  probe.remove();
  return elements.map((selector) => {
    const element = document.querySelector(selector);
    if (!element) return [selector, 'missing'];
    const { color, backgroundColor, borderLeftColor } = getComputedStyle(element);
    return [selector, [color, backgroundColor, borderLeftColor].map((one) => names.get(one) ?? one).join(' ')];
  });
}`;
/** Runs in the page: the elements that nobody sees, of those that match. */
const HIDDEN = `(elements) => elements.filter((selector) => {
  const element = document.querySelector(selector);
  if (!element || !element.checkVisibility() || getComputedStyle(element).clipPath !== 'none') return true;
  const { width, bottom } = element.getBoundingClientRect();
  return width === 0 || bottom <= 0;
})`;
const inPage = <Result>(page: Page, code: string, ...given: unknown[]): Promise<Result> =>
  page.evaluate(`(${code})(...${JSON.stringify(given)})`);

/** The colors of each part: of its text, behind it, and of its border. */
const COLORS: Readonly<Record<string, string>> = {
  '.event-row[data-state=acknowledged] .mark': 'good good-soft good',
  '.event-row[data-state=waiting] .mark': 'wait wait-soft wait',
  '.event-row[data-state=failed] .mark': 'bad bad-soft bad',
  '.event-row[data-state=in-flight] .mark': 'info info-soft info',
  '.event-row[data-state=held] .mark': 'muted hover muted',
  '.event-row[data-state=dropped] .mark': 'muted hover muted',
  '.event-row .answer[data-tone=good]': 'good - good',
  '.event-row .answer[data-tone=bad]': 'bad - bad',
  '.event-row .answer[data-tone=wait]': 'text - text',
  '.attempt .answer[data-tone=gone]': 'text - text',
  '.attempt .answer[data-tone=bad]': 'bad - bad',
  '.event-row .number': 'muted - muted',
  '.event-row .when': 'muted - muted',
  '.event-row .note': 'muted - muted',
  '.event-row .next': 'wait - wait',
  '.event-row[aria-current]': 'text chosen text',
  '.event-row:not([aria-current])': 'text - text',
  '.pips [data-tone=good]': 'text rgb(70, 185, 130) text',
  '.pips [data-tone=bad]': 'text rgb(232, 105, 95) text',
  '.pips [data-tone=wait]': 'text rgb(90, 155, 240) text',
  '.pips [data-tone=gone]': 'text rgb(165, 123, 220) text',
  '.tag': 'odd odd-soft odd',
  '#paused': 'bad bad-soft bad',
  '#paused button': 'text raised line-strong',
  '.rule[data-state=paused]': 'text raised rgb(110, 52, 48)',
  '.rule[data-state=active]': 'text raised line',
  '.rule[data-state=paused] .badge': 'bad bad-soft bad',
  '.rule[data-state=active] .badge': 'good good-soft good',
  '.why': 'bad bad-soft bad',
  '.trigger': 'muted - muted',
  '.secret': 'muted - muted',
  '#detail .badge': 'wait wait-soft wait',
  '#detail .story .next': 'wait - wait',
  '.outcome-note[data-tone=bad]': 'text hover bad',
  '.connection': 'muted - muted',
  '.connection .dot': 'muted rgb(76, 195, 138) muted',
  '.chip[aria-pressed=true]': 'text chosen accent',
  '.chip[aria-pressed=false]': 'text surface line',
  '.chip[data-state=acknowledged] .chip-count': 'good - good',
  '.chip[data-state=waiting] .chip-count': 'wait - wait',
  '.chip[data-state=failed] .chip-count': 'bad - bad',
  '.chip[data-state=in-flight] .chip-count': 'info - info',
  '.chip[data-state=held] .chip-count': 'text - text',
  '#tab-rules .tab-count': 'wait wait-soft wait',
  '#tab-calls .tab-count': 'muted hover muted',
  '[role=tab][aria-selected=true]': 'text - text',
  '[role=tab][aria-selected=false]': 'muted - muted',
  '#place-call': 'white accent-fill -',
  '#reset': 'text raised line-strong',
};

/** Parts of the page, and which of them each width hides. Each width is beside another at which more is shown. */
const PARTS = [
  ...['.brand h1', '.brand-note', '.connection .dot', '.connection [role=status]'],
  ...['.clock-time', '.clock > .icon', '.clock-day', '.clock-next', '.clock button'],
  ...['#place-call', '#reset', '#tab-events', '#tab-rules', '#panel-rules', '#paused'],
  ...['#filters', '#search'],
  ...[
    'mark',
    'event',
    'number',
    'pips',
    'answer',
    'took',
    'when',
    'note',
    'receiver',
    'because',
  ].map((part) => `[data-id=e9] .${part}`),
];
const [PIPS, TOOK] = ['[data-id=e9] .pips', '[data-id=e9] .took'];
const NARROW = ['.brand-note', '#panel-rules'];
const SMALL = ['.brand-note', '.connection [role=status]', '.clock > .icon', '.clock-day'];
const HIDDEN_AT: readonly (readonly [width: number, hidden: readonly string[]])[] = [
  [1280, ['#tab-events']],
  [1279, ['.brand-note', '#tab-events']],
  [1081, ['.brand-note', '#tab-events']],
  [1080, ['.brand-note', '#tab-events', TOOK]],
  [900, ['.brand-note', '#tab-events', TOOK]],
  [899, NARROW],
  [721, NARROW],
  [720, [...NARROW, TOOK]],
  [561, [...NARROW, TOOK]],
  [560, [...SMALL, '#panel-rules', TOOK]],
  [521, [...SMALL, '#panel-rules', TOOK]],
  [520, [...SMALL, '#panel-rules', PIPS, TOOK]],
  [481, [...SMALL, '#panel-rules', PIPS, TOOK]],
  [480, ['.brand h1', ...SMALL, '#panel-rules', PIPS, TOOK]],
];

/** The beginnings of the shapes of icons. */
const ICONS = Object.entries({
  ...{ 'M3.5 8.5l3': 'check', 'M4.5 4.5l7': 'cross', 'M8 2.5a5.5 5.5 0 1 0 0 11a': 'clock' },
  ...{ 'M2.5 8h9': 'flight', 'M5.8 4v8': 'pause', 'M4 8h8': 'minus', 'M3 3.2': 'phone' },
  ...{ 'M12.8 8a': 'again', 'M6 6h7': 'copy', 'M2.5 3.5h11': 'terminal', 'M1.8 8S4': 'eye' },
  ...{ 'M3.2 6.5A': 'rotate', 'M4.5 3.5v9': 'forward', 'M4 3.5v9': 'skip' },
  ...{ 'M2.5 3.5v9': 'idle', 'M8 2.5a': 'theme' },
});

/** Runs in the page: the texts, the fields and the buttons of a form. */
const FORM = `(form) => [...form.querySelectorAll('form p:not(.form-error), input, textarea, .hint, button')]
  .map((one) => {
    if (one.matches('button')) return one.className + ': ' + one.textContent;
    if (!one.matches('input, textarea')) return one.textContent;
    const { labels, type, inputMode, pattern, placeholder, min, max, required, value, checked, rows } = one;
    const facts = [type, inputMode, required && 'needed', pattern && 'like ' + pattern, min && 'from ' + min,
      max && 'to ' + max, rows && rows + ' rows', type === 'checkbox' ? checked && 'on' : value && '= ' + value,
      placeholder && 'as ' + placeholder];
    return labels[0].querySelector('span').textContent + ': ' + facts.filter(Boolean).join(', ');
  })`;
const CANCEL = 'button: Cancel';
const FORMS: Readonly<Record<string, readonly string[]>> = {
  'Place a call': [
    'The call starts now, and ends by itself after its duration, in the simulator’s time. Fields that you leave empty get invented values.',
    'Phone number: tel, as +1 555 0100',
    'Name of the person: text, as Dana Reyes',
    'Duration in seconds: number, needed, from 0, to 86400, = 20',
    'Number of calls: number, needed, from 1, to 200, = 1',
    'Recorded: checkbox, on',
    ...[CANCEL, 'button primary: Place'],
  ],
  'Reset the simulator?': [
    'This removes all rules, secrets, calls, events, emails and messages.',
    ...[CANCEL, 'button danger: Reset'],
  ],
  'Edit and resend': [
    'Body: textarea, needed, 12 rows, = {\n  "eventName": "call:started"\n}',
    'The body must be valid JSON. It is sent exactly as you write it.',
    ...[CANCEL, 'button primary: Resend'],
  ],
  'Add a URL': [
    'URL: text, url, needed',
    'Custom payload: textarea, 5 rows',
    'JSON with {{placeholders}}. Leave it empty to send the event itself.',
    ...[CANCEL, 'button primary: Add'],
  ],
  'Edit the action': [
    'URL: text, url, needed, = https://localhost:4443/tapes',
    ...[CANCEL, 'button primary: Save'],
  ],
  'Remove the rule?': [
    'This removes “Archive” with its URLs and secrets. Waiting events are dropped.',
    ...[CANCEL, 'button danger: Remove'],
  ],
  'Remove the action?': [
    'This removes http://127.0.0.1:4000/archive and its secret. Waiting events are dropped.',
    ...[CANCEL, 'button danger: Remove'],
  ],
  'Rotate the secret?': [
    'The next delivery is signed with a new secret. The receiver rejects it until it has that secret.',
    ...[CANCEL, 'button danger: Rotate'],
  ],
};

describeInChromium('the looks of the inspector', (chromium) => {
  const open = testResources();

  async function withDetail(options: { colorScheme?: 'dark' } = {}) {
    const world = await openWithWorld(chromium, open, { reducedMotion: 'reduce', ...options });
    await world.page.locator('.event-row[data-id=e7]').click();
    await world.page.locator('#detail-title[data-id=e7]').waitFor();
    return world;
  }

  test('each part has the color of what it says', async () => {
    const { page, tab, become } = await withDetail({ colorScheme: 'dark' });
    const colors = async (of: string[]) =>
      Object.fromEntries(await inPage<[string, string][]>(page, COLORS_OF, of));
    expect(await colors(Object.keys(COLORS))).toEqual(COLORS);
    await page.locator('.event-row[data-id=e1]').click();
    await page.locator('#detail-title[data-id=e1]').waitFor();
    const more = { '.outcome-note[data-tone=good]': 'text hover good', '.attempt': 'text - line' };
    expect(await colors(Object.keys(more))).toEqual(more);
    await tab('Calls');
    const ongoing = { '.ongoing': 'info - info' };
    expect(await colors(Object.keys(ongoing))).toEqual(ongoing);
    await page.keyboard.press('Escape');
    await page.locator('#detail').waitFor({ state: 'detached' });
    await become({ counts: { ...WORLD.counts, events: {} }, events: [], matching: {} });
    await page.locator('#welcome').waitFor();
    const steps = await page.evaluate(`[...document.querySelectorAll('.steps > li')].map((one) => {
      return getComputedStyle(one, '::before').content;
    })`);
    expect(steps).toEqual(['"✓"', 'counter(step)', 'counter(step)']);
  });

  test('each width shows as much as it has room for', async () => {
    const { page } = await openWithWorld(chromium, open);
    const seen: unknown[] = [];
    for (const [width] of HIDDEN_AT) {
      await page.setViewportSize({ width, height: 800 });
      const section = width < 900 ? 'events' : 'rules';
      await page.locator(`.app[data-section=${section}]`).waitFor();
      seen.push([width, await inPage(page, HIDDEN, PARTS)]);
    }
    const order = (hidden: readonly string[]) => PARTS.filter((one) => hidden.includes(one));
    expect(seen).toEqual(HIDDEN_AT.map(([width, hidden]) => [width, order(hidden)]));
  });

  test('details stand beside the events, or over them where there is no room', async () => {
    const { page } = await withDetail();
    const places = async (width: number) => {
      await page.setViewportSize({ width, height: 800 });
      return page.evaluate(`(() => {
        const box = (selector) => document.querySelector(selector).getBoundingClientRect();
        const style = (selector) => getComputedStyle(document.querySelector(selector));
        const detail = box('#detail');
        return [innerWidth, box('.side').width, style('#detail').position, detail.width,
          innerWidth - detail.right, innerHeight - detail.bottom, style('#filters').position];
      })()`);
    };
    for (const [width, side, position, detail, filters] of [
      [1600, 360, 'static', 510, 'sticky'],
      [1599, 330, 'static', 450, 'sticky'],
      [1280, 330, 'static', 450, 'sticky'],
      [1279, 360, 'absolute', 540, 'sticky'],
      [900, 360, 'absolute', 540, 'sticky'],
      [899, 899, 'absolute', 540, 'static'],
      [400, 400, 'absolute', 400, 'static'],
    ] as const)
      expect(await places(width)).toEqual([width, side, position, detail, 0, 0, filters]);
  });

  test('each list scrolls by itself, below what stays in view', async () => {
    const { page, tab } = await withDetail();
    await page.setViewportSize({ width: 1440, height: 500 });
    /** How far a part has scrolled at its end, and whether another part of it is still at its top. */
    const scrolled = (part: string, stays?: string) =>
      inPage(
        page,
        `(part, stays) => {
          const pane = document.querySelector(part);
          pane.scrollTop = 100_000;
          const stay = stays && document.querySelector(stays).getBoundingClientRect().top;
          const result = [pane.scrollTop > 50, stay && Math.abs(stay - pane.getBoundingClientRect().top) < 1];
          pane.scrollTop = 0;
          return result;
        }`,
        part,
        stays,
      );
    expect(await scrolled('.stream', '#filters')).toEqual([true, true]);
    expect(await scrolled('#detail', '.detail-head')).toEqual([true, true]);
    await page.setViewportSize({ width: 1440, height: 300 });
    for (const name of ['Rules', 'Calls', 'Chaos']) {
      await tab(name);
      await page.locator(`#panel-${name.toLowerCase()}`).waitFor();
      expect([name, await scrolled(`#panel-${name.toLowerCase()}`)]).toEqual([name, [true, null]]);
    }
    expect(await page.evaluate('getComputedStyle(document.body).overflow')).toBe('hidden');
  });

  test('dots stand between the notes of a row in a line, and none where they stand below each other', async () => {
    const { page } = await openWithWorld(chromium, open);
    const dots = async (width: number) => {
      await page.setViewportSize({ width, height: 800 });
      await page.locator(`.app[data-section=${width < 900 ? 'events' : 'rules'}]`).waitFor();
      return page.evaluate(`[...document.querySelectorAll('[data-id=e9] .note > *')].map((one) =>
        getComputedStyle(one, '::after').content)`);
    };
    expect(await dots(1440)).toEqual(['"·"', '"·"', '"·"', '"·"', 'none']);
    expect(await dots(520)).toEqual(Array(5).fill('none'));
  });

  test('each state and each button has its icon', async () => {
    const { page, tab } = await withDetail();
    const icons = async (within: string) => {
      const shapes = await page.evaluate<string[]>(
        `[...document.querySelectorAll(${JSON.stringify(`${within} .icon path:first-child`)})]
          .map((one) => one.getAttribute('d'))`,
      );
      return shapes
        .map((shape) => ICONS.find(([start]) => shape.startsWith(start))?.[1] ?? shape)
        .join(' ');
    };
    for (const [within, names] of [
      [
        '.event-row .mark',
        'check minus minus pause cross cross clock clock clock clock clock clock flight check check',
      ],
      ['.top', 'clock skip forward idle theme'],
      ['#paused', 'pause forward'],
      ['#filters', 'again'],
      ['.rule:nth-child(1)', 'check eye copy rotate pause'],
      ['.rule:nth-child(2)', 'pause eye copy rotate eye copy rotate forward'],
      ['#detail .detail-head', 'again cross clock'],
      ['#detail .attempt:first-child', 'terminal copy copy'],
    ] as const)
      expect([within, await icons(within)]).toEqual([within, names]);
    await tab('Calls');
    await page.locator('#panel-calls').waitFor();
    expect(await icons('#panel-calls')).toBe('phone phone phone phone phone');
    // A call without a name has no line for its number beside the number.
    expect(await page.locator('#panel-calls .row-note:visible').count()).toBe(9);
  });

  test('long words break, and no part scrolls sideways', async () => {
    const { page, tab, become } = await openWithWorld(chromium, open);
    const long = 'x'.repeat(300);
    const url = `http://127.0.0.1:3000/${long}`;
    const [rule, other] = WORLD.rules;
    const [call] = WORLD.calls;
    const [mail] = WORLD.outbox;
    const event = WORLD.events.find(({ _id }) => _id === 'e9')!;
    const outcome = event.attempts.map((one) => ({ ...one, url }));
    await become({
      rules: [rule!, other!].map((one) => ({
        ...{ ...one, name: long, actions: one.actions.map((action) => ({ ...action, url })) },
      })),
      calls: [{ ...call!, calledName: long, calledNumber: long }],
      outbox: [{ ...mail!, subject: long, text: long, to: [long] }],
      events: [{ ...event, attempts: outcome, url, ruleName: long, callName: long }],
    });
    await page.locator('.event-row').nth(1).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Events' }).first().click();
    await page.locator('.chip.of', { hasText: long }).waitFor();
    await page.locator('.event-row').click();
    await page.locator('#detail-title[data-id=e9]').waitFor();
    const sideways = (part: string) =>
      page
        .locator(part)
        .evaluate(
          (pane: { scrollWidth: number; clientWidth: number }) =>
            pane.scrollWidth - pane.clientWidth,
        );
    for (const width of [1440, 900]) {
      await page.setViewportSize({ width, height: 800 });
      for (const name of ['Rules', 'Calls', 'Outbox', 'Chaos']) {
        await tab(name);
        const panel = `#panel-${name.toLowerCase()}`;
        await page.locator(panel).waitFor();
        for (const part of [panel, '.stream', '#detail'])
          expect([width, part, await sideways(part)]).toEqual([width, part, 0]);
      }
    }
  });

  test('each form says what it does, and what its fields take', async () => {
    const { page } = await withDetail();
    const shown: Record<string, unknown> = {};
    const card = '.card.rule:nth-child(2)';
    for (const [opener, title] of [
      ['#place-call', 'Place a call'],
      ['#reset', 'Reset the simulator?'],
      ['#detail button:has-text("Edit")', 'Edit and resend'],
      [`${card} button:has-text("Add URL")`, 'Add a URL'],
      ['.card.rule:nth-child(3) button:has-text("Edit URL")', 'Edit the action'],
      [`${card} button:has-text("Remove rule")`, 'Remove the rule?'],
      [`${card} button:has-text("Remove URL")`, 'Remove the action?'],
      [`${card} button[aria-label="Rotate the secret"]`, 'Rotate the secret?'],
    ] as const) {
      await page.locator(opener).first().click();
      await page.getByRole('dialog', { name: title }).waitFor();
      shown[title] = await page.evaluate(`(${FORM})(document.querySelector('dialog'))`);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    expect(shown).toEqual(FORMS);
    expect(await page.evaluate(`(${FORM})(document.querySelector('#add-rules'))`)).toEqual([
      'URL of your receiver: text, url, needed, as http://127.0.0.1:3000/hook, or 3000/hook',
      'Signing secret: text, like whsec_.+, as whsec_…',
      'It signs all three events. If you leave it empty, each rule gets its own secret.',
      'button primary: Forward',
    ]);
  });
});
