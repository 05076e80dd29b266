import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import type { WebhookEventSummary } from '@call-webhooks/simulator/control-api';
import {
  ACKNOWLEDGED,
  error,
  event,
  openWithWorld,
  paused,
  retry,
  status,
  waiting,
  WORLD,
} from './world.ts';
import { testResources } from '../support/test-resources.ts';

type Attempt = Partial<WebhookEventSummary['attempts'][number]>;

describeInChromium('the inspector follows what changes', (chromium) => {
  const open = testResources();
  const openWorld = () => openWithWorld(chromium, open);

  test('the banner of a paused rule says why, and what becomes of its events', async () => {
    const { page, become } = await openWorld();
    const banner = page.locator('#paused');
    const reasons = {
      'responded-404': 'its URL returned 404 and is considered gone',
      'last-attempt-failed': 'the last attempt to deliver an event failed',
      'by-hand': 'it was paused by hand',
    };
    const [active, archive, , nowhere] = WORLD.rules;
    const receivers = '127.0.0.1:4000/archive, 127.0.0.1:4000/archive/2';
    for (const whilePaused of ['drop', 'hold'] as const)
      for (const [pauseReason, why] of Object.entries(reasons)) {
        const rule = { ...archive!, pauseReason: pauseReason as keyof typeof reasons };
        await become({ rules: [active!, rule], policy: { ...WORLD.policy, whilePaused } });
        const then = whilePaused === 'hold' ? 'held' : 'dropped';
        await banner
          .getByText(
            `“Archive” to ${receivers} is paused: ${why}. Its events are ${then} until you resume it.`,
            { exact: true },
          )
          .waitFor();
        await banner.getByRole('button', { name: 'Resume', exact: true }).waitFor();
      }
    await become({ rules: [nowhere!] });
    await banner.getByText(/^“Nowhere” is paused: the last attempt/).waitFor();
    await become({ rules: [archive!, active!, nowhere!] });
    await banner.getByText('2 rules are paused.', { exact: true }).waitFor();
    await banner.getByRole('button', { name: 'Resume all', exact: true }).waitFor();
    await become({ rules: [active!] });
    await banner.waitFor({ state: 'hidden' });
  });

  test('of held and dropped, the state that the policy excludes is hidden while no event has it', async () => {
    const { page, become } = await openWorld();
    const chip = (name: string) => page.locator('#filters').getByRole('button', { name });
    const { policy, counts } = WORLD;
    for (const [whilePaused, held, dropped, shown] of [
      ['drop', 0, 0, 'dropped'],
      ['hold', 0, 0, 'held'],
      ['drop', 1, 0, 'both'],
      ['hold', 0, 1, 'both'],
    ] as const) {
      const events = { ...counts.events, held, dropped };
      await become({ policy: { ...policy, whilePaused }, counts: { ...counts, events } });
      for (const [name, other] of [
        ['Held', 'dropped'],
        ['Dropped', 'held'],
      ] as const)
        await chip(name).waitFor({ state: shown === other ? 'hidden' : 'visible' });
    }
  });

  test.each(['manual', 'real'] as const)(
    'on a %s clock, times and countdowns go on between two reads, or stand still',
    async (mode) => {
      const { page, become } = await openWorld();
      const calls = WORLD.calls.map((one) => ({ ...one, plannedMs: 630_000 }));
      await become({ calls, clock: { ...WORLD.clock, mode, nextDueAt: WORLD.clock.now + 90_000 } });
      const next = page.locator('.clock-next');
      await next.getByText(mode === 'manual' ? 'manual' : /· next/).waitFor();
      await page.clock.install();
      await page.reload();
      await page.locator('.event-row').first().waitFor();
      await page.getByRole('tab', { name: 'Calls' }).click();
      const row = page.locator('.event-row[data-id=e6] .next');
      const call = page.locator('#panel-calls .row-note', { hasText: '11:59:30' });
      const seconds = (text: string | null) => {
        const [, minutes = 0, rest = 0] = /in (?:(\d+)m ?)?(?:(\d+)s)?$/.exec(text ?? '') ?? [];
        return Number(minutes) * 60 + Number(rest);
      };
      const left = async () => {
        const texts = [next, row, call].map(async (one) => seconds(await one.textContent()));
        return Promise.all(texts);
      };
      if (mode === 'manual') {
        expect(await left()).toEqual([90, 240, 600]);
        await page.clock.fastForward(10_000);
        await page.clock.runFor(1_000);
        expect(await left()).toEqual([90, 240, 600]);
        await page.getByText('12:00:00 UTC').waitFor();
        return;
      }
      // The machine decides how long the page has been open.
      const before = await left();
      await page.clock.fastForward(10_000);
      await page.clock.runFor(1_000);
      const after = await left();
      for (const [at, then] of before.entries()) {
        expect(then - after[at]!).toBeGreaterThanOrEqual(10);
        expect(then - after[at]!).toBeLessThan(60);
      }
      expect(await page.locator('.clock-time').textContent()).not.toBe('12:00:00 UTC');
    },
  );

  test('the first attempt of an event that is shown unfolds, and later ones do not', async () => {
    const { page, become } = await openWorld();
    const others = WORLD.events.filter(({ number }) => number !== 4);
    const failed = { response: status(500), result: retry('status') };
    const attempts = page.locator('#detail .attempt');
    const open = () =>
      page.locator('#detail .attempt details[open] .attempt-name').allTextContents();
    await page.locator('.event-row[data-id=e4]').click();
    await page.locator('#detail-title[data-id=e4]').waitFor();
    for (const [attempt, count] of [1, 2].entries()) {
      const all = [failed, failed].slice(0, count);
      await become({ events: [...others, event(4, waiting(59), all)] });
      await attempts.nth(attempt).waitFor();
      expect([await attempts.count(), await open()]).toEqual([count, ['Attempt 1']]);
    }
  });

  test('the details of another event begin at the top; those of the same event stay where they are', async () => {
    const { page, become } = await openWorld();
    await page.setViewportSize({ width: 1440, height: 400 });
    const at = () =>
      page.locator('#detail').evaluate((pane) => (pane as { scrollTop: number }).scrollTop);
    await page.locator('.event-row[data-id=e15]').click();
    await page.locator('#detail-title[data-id=e15]').waitFor();
    await page.locator('#detail').hover();
    await page.mouse.wheel(0, 200);
    for (let left = 200; (await at()) <= 100 && left > 0; left--) await page.waitForTimeout(20);
    expect(await at()).toBeGreaterThan(100);
    const [last] = WORLD.events.slice(-1);
    await become({ events: [...WORLD.events.slice(0, -1), { ...last!, number: 99 }] });
    await page.locator('#detail').getByText('#99').waitFor({ state: 'attached' });
    expect(await at()).toBeGreaterThan(100);
    await page.locator('.event-row[data-id=e2]').click();
    await page.locator('#detail-title[data-id=e2]').waitFor();
    expect(await at()).toBe(0);
  });

  test('a screen reader is told the counts again whenever they changed', async () => {
    const { page, become } = await openWorld();
    const told = page.locator('#announcer');
    for (const failed of [2, 3, 4]) {
      await become({ counts: { ...WORLD.counts, events: { acknowledged: 5, failed } } });
      await told
        .getByText(`Events: 5 acknowledged, ${String(failed)} failed.`, { exact: true })
        .waitFor();
    }
  });

  test('older events are counted of the state that is shown, and another filter begins anew', async () => {
    const { page, reads } = await openWorld();
    const asked = async (query: string) => {
      for (let left = 200; !reads.includes(`/state?${query}`) && left > 0; left--)
        await page.waitForTimeout(20);
      expect(reads).toContain(`/state?${query}`);
    };
    const more = page.getByRole('button', { name: 'Show more' });
    await page.getByText('100 older events').waitFor();
    await more.click();
    await asked('limit=400');
    await more.click();
    await asked('limit=600');
    await page.locator('#filters').getByRole('button', { name: 'Waiting 106' }).click();
    await asked('state=waiting&limit=200');
    await page.getByText('91 older events').waitFor();
    await page.locator('#filters').getByRole('button', { name: 'Failed 2' }).click();
    await asked('state=failed&limit=200');
    await more.waitFor({ state: 'detached' });
  });

  test('a filter by a receiver that no rule has any more is shown, and can be changed', async () => {
    const { page } = await openWorld();
    const gone = 'http://127.0.0.1:9/gone';
    await page.goto(`${new URL(page.url()).origin}/?url=${encodeURIComponent(gone)}`);
    const receivers = page.getByLabel('Receiver', { exact: true });
    await receivers.waitFor();
    expect(await receivers.inputValue()).toBe(gone);
    expect(await receivers.locator('option').last().textContent()).toBe('127.0.0.1:9/gone');
    await receivers.selectOption('');
    await page.waitForURL(({ search }) => search === '');
    await receivers.getByText('127.0.0.1:9/gone').waitFor({ state: 'detached' });
  });

  test('the first steps are shown until there is an event, and a clock says that nothing is due', async () => {
    const { page, become } = await openWorld();
    const welcome = page.locator('#welcome');
    await page.locator('#filters').waitFor();
    expect(await welcome.count()).toBe(0);
    const clock = { ...WORLD.clock, mode: 'real', nextDueAt: null } as const;
    const counts = { ...WORLD.counts, events: { held: 0 } };
    await become({ counts, events: [], matching: {}, clock });
    await welcome.waitFor();
    await page.locator('#filters').waitFor({ state: 'detached' });
    await page
      .locator('.clock-next')
      .getByText('31 Jan 2026 · nothing is due', { exact: true })
      .waitFor();
    const primary = welcome.locator('button.primary');
    expect(await primary.allTextContents()).toEqual(['Place a call']);
    await become({ rules: [] });
    await welcome.locator('li[data-done]').waitFor({ state: 'detached' });
    expect(await primary.allTextContents()).toEqual(['Forward']);
    await become({ counts: { ...counts, events: { held: 1 } } });
    await welcome.waitFor({ state: 'detached' });
  });

  test('of more than a hundred calls and emails, the latest hundred are shown, the newest first', async () => {
    const { page, tab, become } = await openWorld();
    const [call] = WORLD.calls;
    const [mail] = WORLD.outbox;
    const many = Array.from({ length: 103 }, (_, at) => String(at + 1));
    await become({
      calls: many.map((name) => ({ ...call!, _id: `c${name}`, calledName: `Person ${name}` })),
      outbox: many.map((name) => ({ ...mail!, _id: `m${name}`, subject: `Mail ${name}` })),
      counts: { ...WORLD.counts, calls: 1_103, mails: 101 },
    });
    for (const [name, rows, older] of [
      ['Calls', '#panel-calls .row-title', '… and 1,003 older calls'],
      ['Outbox', '#panel-outbox h3', '… and 1 older email'],
    ] as const) {
      await tab(name);
      await page.getByText(older, { exact: true }).waitFor();
      const shown = await page.locator(rows).allTextContents();
      const one = name === 'Calls' ? 'Person' : 'Mail';
      expect([shown.length, shown[0], shown.at(-1)]).toEqual([100, `${one} 103`, `${one} 4`]);
    }
    await become({ counts: { ...WORLD.counts, calls: 100, mails: 100 } });
    await page.getByText('older email').waitFor({ state: 'detached' });
  });

  test('the chosen event is in view, wherever in the list it is', async () => {
    const { page } = await openWorld();
    await page.setViewportSize({ width: 1440, height: 400 });
    const ids = [...WORLD.events].reverse().map(({ _id }) => _id);
    for (const [at, id] of [...ids, ...ids.slice(0, -1).reverse()].entries()) {
      await page.keyboard.press(at < ids.length ? 'j' : 'k');
      const row = page.locator(`.event-row[data-id=${id}][aria-current=true]`);
      await row.waitFor();
      const isSeen = await row.evaluate((element) => {
        const seen = element as unknown as {
          getBoundingClientRect(): { top: number; bottom: number };
        };
        const { top, bottom } = seen.getBoundingClientRect();
        return top >= 0 && bottom <= 401;
      });
      expect([id, isSeen]).toEqual([id, true]);
    }
  });

  test('the sliders of the chaos follow the simulator', async () => {
    const { page, tab, become } = await openWorld();
    await tab('Chaos');
    const rows = page.locator('#panel-chaos .chaos li');
    const shown = (mode: string, text: string) =>
      page
        .locator(`#panel-chaos [data-mode=${mode}][data-on]`)
        .getByText(text, { exact: true })
        .waitFor();
    await shown('reorder', '10%');
    await become({ chaos: { ...WORLD.chaos, reorder: 0.4, duplicate: 0.05, slowBody: 0 } });
    await shown('reorder', '40%');
    await shown('duplicate', '5%');
    await page.locator('#panel-chaos [data-mode=slowBody]:not([data-on])').waitFor();
    const values = await rows
      .locator('input[type=range]')
      .evaluateAll((all) => all.map((one) => (one as unknown as { value: string }).value));
    // A slider has steps of five per cent; those of modes that are off are not shown.
    expect(values).toEqual(['5', '5', '40', '25', '5', '5', '5', '5', '35', '5']);
  });
});

/** The last attempt of an event, and what the details make of it: a tone, a name, and how its fix begins. */
const NOTES: readonly (readonly [
  last: Attempt,
  tone?: 'good' | 'bad',
  name?: string,
  fix?: string,
])[] = [
  [{}],
  [{ response: status(200), result: ACKNOWLEDGED }],
  [{ response: status(299), result: ACKNOWLEDGED }],
  [
    { response: status(200), result: ACKNOWLEDGED, outcome: 'handled' },
    'good',
    'handled',
    'Nothing',
  ],
  [{ response: status(200), result: ACKNOWLEDGED, outcome: 'unheard-of' }],
  ...[301, 400, 401, 403, 405, 410, 429, 500, 503].map(
    (code) =>
      [
        { response: status(code), result: retry('status') },
        'bad',
        String(code),
        'Read the response',
      ] as const,
  ),
  [{ response: status(404), result: paused('responded-404') }, 'bad', '404', 'Compare the URL'],
  [
    { response: status(500), result: paused('last-attempt-failed') },
    'bad',
    '500',
    'Read the response',
  ],
  [
    { response: status(401), result: retry('status'), outcome: 'signature-mismatch' },
    ...(['bad', 'signature-mismatch', 'Check that the secret'] as const),
  ],
  [
    { response: { kind: 'timeout' }, result: retry('timeout') },
    ...(['bad', 'timed out', 'Respond within the time limit'] as const),
  ],
  [
    { response: error('ECONNREFUSED'), result: retry('connection-error') },
    ...(['bad', 'ECONNREFUSED', 'Start the receiver'] as const),
  ],
  [
    { response: error('ECONNRESET'), result: retry('connection-error') },
    ...(['bad', 'ECONNRESET', 'Read the log'] as const),
  ],
  [
    {
      response: error('ECONNRESET'),
      result: retry('connection-error'),
      dropped: true,
      outcome: 'handled',
    },
    ...(['bad', 'handled', 'Nothing'] as const),
  ],
];

describeInChromium('the details of an event', (chromium) => {
  const open = testResources();

  test('say what its last attempt means, and what to do', async () => {
    const { page, become } = await openWithWorld(chromium, open);
    const events = NOTES.map(([last], at) => event(at + 1, { state: 'waiting' }, [last]));
    await become({ events });
    await page.locator('.event-row[data-id=e1]').waitFor();
    const seen: unknown[] = [];
    for (const { _id } of events) {
      await page.locator(`.event-row[data-id=${_id}]`).click();
      await page.locator(`#detail-title[data-id=${_id}]`).waitFor();
      seen.push(
        await page.evaluate(`(() => {
          const note = document.querySelector('#detail .outcome-note');
          if (!note) return [];
          const [said, fix] = [...note.querySelectorAll('p')].map((one) => one.textContent);
          return [note.dataset.tone, said, fix];
        })()`),
      );
    }
    expect(seen).toEqual(
      NOTES.map(([, tone, name, fix]) =>
        tone === undefined
          ? []
          : [tone, expect.stringMatching(`^${name!} `), expect.stringMatching(`^Fix: ${fix!}`)],
      ),
    );
  });
});
