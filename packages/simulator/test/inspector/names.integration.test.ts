import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { openWithWorld, WORLD } from './world.ts';
import { testResources } from '../support/test-resources.ts';

const MODES = [
  ...['Duplicate', 'Concurrent duplicates', 'Reorder', 'Drop the response', 'Slow body'],
  ...['Wrong secret', 'Old secret', 'Clock skew', 'Replay', 'Tampered body'],
];
const REQUEST = ['section Request', 'dl Request headers', 'pre region Request body'];

describeInChromium('the names and the words of the inspector', (chromium) => {
  const open = testResources();

  test('each part has its name for screen readers, and tells what changes', async () => {
    const { page } = await openWithWorld(chromium, open);
    await page.locator('.event-row[data-id=e7]').click();
    await page.locator('#detail-title[data-id=e7]').waitFor();
    const names =
      await page.evaluate(`[...document.querySelectorAll('[aria-label], [aria-labelledby]')]
      .filter((one) => !one.matches('button'))
      .map((one) => [one.tagName.toLowerCase(), one.getAttribute('role'),
        one.getAttribute('aria-label') ?? '#' + one.getAttribute('aria-labelledby')].filter(Boolean).join(' '))`);
    expect(names).toEqual([
      ...['div group The simulator’s clock', 'div group Advance the clock'],
      'div tablist Parts of the simulator',
      ...['section tabpanel #tab-rules', 'ul Rules', 'section tabpanel #tab-calls', 'ul Calls'],
      ...['section tabpanel #tab-outbox', 'ul Emails', 'section tabpanel #tab-chaos'],
      ...MODES.map((mode) => `input Probability: ${mode}`),
      ...['section Events', 'div group State', 'input Search the events', 'select Receiver'],
      ...['select Event name', 'ol Events, newest first'],
      ...['section #detail-title', 'ol Attempts, newest first'],
      ...[...REQUEST, 'section Response', 'dl Response headers', 'pre region Response body'],
      ...[...REQUEST, 'section Response', 'section Dropped response', 'dl Response headers'],
      'pre region Response body (truncated)',
    ]);
    const facts = await page.evaluate(`({
      title: document.title,
      language: document.documentElement.lang,
      reversed: [...document.querySelectorAll('ol[aria-label]')].map((list) => list.reversed),
      headings: [...document.querySelectorAll('h1, h2')].map((one) => one.tagName + ' ' + one.textContent),
      told: [...document.querySelectorAll('[role=status], [role=alert]')]
        .map((one) => one.role + ' ' + (one.id || one.className || one.textContent)),
      search: ['placeholder', 'autocomplete', 'spellcheck', 'type'].map((name) =>
        document.getElementById('search').getAttribute(name)),
      buttons: [...document.querySelectorAll('.top button, .rule:first-child button, #detail button')]
        .map((one) => one.getAttribute('aria-label')).filter(Boolean),
    })`);
    expect(facts).toEqual({
      ...{ title: 'Call webhooks: inspector', language: 'en', reversed: [true, true] },
      headings: [
        ...['H1 Call webhooks simulator', 'H2 Rules', 'H2 Calls', 'H2 Outbox', 'H2 Chaos'],
        ...['H2 Events', 'H2 call:started #7'],
      ],
      told: [
        ...['status Live', 'alert form-error', 'status paused', 'status announcer'],
        ...['alert alerts', 'status notices'],
      ],
      search: ['Name, #number, id, text', 'off', 'false', 'search'],
      buttons: [
        ...['Change between light and dark', 'Keyboard shortcuts'],
        ...['Show the secret', 'Copy secret', 'Rotate the secret', 'Close'],
        ...['Copy curl command', 'Copy request body', 'Copy response body'],
        ...['Copy curl command', 'Copy request body', 'Copy response body (truncated)'],
      ],
    });
  });

  test('what is empty says so, and what to do', async () => {
    const { page, become } = await openWithWorld(chromium, open);
    const more = page.locator('#add-rules');
    const [rule] = WORLD.rules;
    await become({ rules: [rule!] });
    await page.locator('.card.rule').nth(1).waitFor({ state: 'detached' });
    await more.waitFor();
    expect(await more.locator('summary').allTextContents()).toEqual([
      ...['Forward to another receiver', 'Use your own signing secret'],
    ]);
    await become({
      ...{ rules: [], calls: [], outbox: [], events: [], matching: {} },
      counts: { calls: 0, events: {}, mails: 0, messages: 0 },
    });
    await page.locator('#welcome').waitFor();
    expect(await page.locator('.none').allTextContents()).toEqual([
      'No rules yet, so nothing is sent.',
      'No calls yet. Place one: press c.',
      'No emails yet. The service sends one when it pauses a rule.',
    ]);
    await more.waitFor({ state: 'hidden' });
    expect(await page.locator('.tab-count:visible').allTextContents()).toEqual(['5 on']);
    const welcome = page.locator('#welcome');
    expect(await welcome.locator('h2, .lead, h3, .steps > li > .hint').allTextContents()).toEqual([
      'No events yet',
      'The simulator is a local copy of the calling service. Three steps to the first webhook:',
      'Enter the URL of your receiver',
      'It gets call:started, call:completed and call:recording-available, each of them signed.',
      'Configure the signing secrets',
      'Show or copy them in the list of rules. A receiver accepts several at once.',
      'Place a call',
      'The events of the call appear here, with every attempt and response.',
    ]);
  });

  test('the name of an event has the width of its text, whatever stands behind it', async () => {
    const { page } = await openWithWorld(chromium, open);
    for (const width of [1440, 900, 560, 521, 400]) {
      await page.setViewportSize({ width, height: 800 });
      await page.locator(`.app[data-section=${width < 900 ? 'events' : 'rules'}]`).waitFor();
      const cut = await page.evaluate(`[...document.querySelectorAll('.event-row')]
        .filter((row) => {
          const { scrollWidth, clientWidth } = row.querySelector('.event');
          return clientWidth === 0 || scrollWidth > clientWidth;
        })
        .map((row) => row.dataset.id)`);
      expect([width, cut]).toEqual([width, []]);
    }
  });

  test('a response without a body, and one whose body was cut off, say so', async () => {
    const { page } = await openWithWorld(chromium, open);
    const response = { kind: 'status', status: 503, headers: { 'x-own': 'yes' } } as const;
    const [, second] = WORLD.events;
    const request = { url: 'http://127.0.0.1:1/', headers: {}, body: '{}' };
    const attempts = second!.attempts.map((one, at) => ({
      ...{ ...one, request },
      response: { ...response, body: at === 2 ? '' : 'cut', truncated: at === 1 },
    }));
    await page.route(/\/_sim\/events\/e2$/, (route) =>
      route.fulfill({ json: { ...second, body: '{}', attempts } }),
    );
    await page.locator('.event-row[data-id=e2]').click();
    await page.locator('#detail-title[data-id=e2]').waitFor();
    const parts = page.locator('#detail [aria-label=Response]');
    expect(
      await parts.evaluateAll((all) =>
        all.map((one) => (one as { textContent: string | null }).textContent),
      ),
    ).toEqual([
      'Response503x-ownyesNo body.',
      'Response503x-ownyesResponse body (truncated)cut',
      'Response503x-ownyesResponse bodycut',
    ]);
  });
});
