import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import type { Page } from 'playwright-core';
import { openWithWorld } from './world.ts';
import { testResources } from '../support/test-resources.ts';

const SECRETS = Object.fromEntries(
  ['a1', 'a2', 'a3', 'a5'].map((id) => [id, { current: `whsec_of${id}`, rotations: 0 }]),
);

describeInChromium('each button of the inspector asks for what it says', (chromium) => {
  const open = testResources();

  async function openWorld() {
    const { page, tab } = await openWithWorld(chromium, open, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    let asked: string[] = [];
    const resent = [3, 1, 0];
    await page.route(/\/_sim\/(?!state|stream|outcomes|events\/e\d+$)/, (route) => {
      const request = route.request();
      const { pathname, search } = new URL(request.url());
      const body = request.postData() ?? '';
      asked.push(`${request.method()} ${pathname.slice(5)}${search} ${body}`.trim());
      return route.fulfill({
        json: pathname.endsWith('/secrets')
          ? SECRETS
          : { _id: 'e2', number: 2, resent: pathname.endsWith('failed') && resent.shift() },
      });
    });
    /** What an action asks the simulator for, once so many requests were made. */
    const asks = async (act: () => Promise<unknown>, count = 1): Promise<string[]> => {
      asked = [];
      await act();
      for (let left = 100; asked.length < count && left > 0; left--) await page.waitForTimeout(20);
      return asked;
    };
    const button = (name: string, within = 'body') =>
      page.locator(within).getByRole('button', { name, exact: true });
    const confirmed = async (press: () => Promise<unknown>, go: string) => {
      await press();
      await page.getByRole('dialog').getByRole('button', { name: go, exact: true }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    const card = (nth: number) => page.locator('.card.rule').nth(nth);
    return { page, tab, asks, button, confirmed, card };
  }
  const address = (page: Page) => new URL(page.url()).search;

  test('of the clock, the banner and the rules', async () => {
    const { asks, button, confirmed, card } = await openWorld();
    expect(await asks(() => button('Next').click())).toEqual(['POST /clock/next']);
    expect(await asks(() => button('+6 min').click())).toEqual(['POST /clock/advance {"by":"6m"}']);
    expect(await asks(() => button('Until idle').click())).toEqual(['POST /clock/run-until-idle']);
    expect((await asks(() => button('Resume all').click(), 3)).sort()).toEqual([
      ...['POST /rules/r2/resume', 'POST /rules/r3/resume', 'POST /rules/r4/resume'],
    ]);
    const of = (nth: number, name: string, at = 0) =>
      card(nth).getByRole('button', { name, exact: true }).nth(at).click();
    expect(await asks(() => of(0, 'Pause'))).toEqual(['POST /rules/r1/pause']);
    expect(await asks(() => of(1, 'Resume'))).toEqual(['POST /rules/r2/resume']);
    const remove = (nth: number, name: string, at = 0) =>
      asks(() => confirmed(() => of(nth, name, at), 'Remove'));
    expect(await remove(2, 'Remove rule')).toEqual(['DELETE /rules/r3']);
    expect(await remove(1, 'Remove URL', 1)).toEqual(['DELETE /rules/r2/actions/a3']);
    expect(await asks(() => confirmed(() => of(1, 'Rotate the secret', 1), 'Rotate'))).toEqual([
      'POST /rules/r2/actions/a3/rotate',
    ]);
  });

  test('of an action: its form has what the action has, and saves what was changed', async () => {
    const { page, asks, confirmed, card } = await openWorld();
    const of =
      (nth: number, name: string, at = 0) =>
      () =>
        card(nth).getByRole('button', { name, exact: true }).nth(at).click();
    const filled = async (open: () => Promise<unknown>, fields: Record<string, string>) => {
      await open();
      const dialog = page.getByRole('dialog');
      const before = await dialog
        .locator('input, textarea')
        .evaluateAll((all) => all.map((one) => (one as unknown as { value: string }).value));
      for (const [label, text] of Object.entries(fields)) await dialog.getByLabel(label).fill(text);
      return before;
    };
    const save = (go: string) => asks(() => confirmed(() => Promise.resolve(), go));
    expect(await filled(of(1, 'Edit URL', 1), { 'Custom payload': '' })).toEqual([
      'http://127.0.0.1:4000/archive/2',
      '{\n  "id": "{{callId}}"\n}',
    ]);
    expect(await save('Save')).toEqual([
      'PATCH /rules/r2/actions/a3 {"url":"http://127.0.0.1:4000/archive/2","payload":null}',
    ]);
    expect(
      await filled(of(1, 'Edit URL', 0), { URL: 'localhost:1/x', 'Custom payload': '[1]' }),
    ).toEqual(['http://127.0.0.1:4000/archive', '']);
    expect(await save('Save')).toEqual([
      'PATCH /rules/r2/actions/a2 {"url":"http://localhost:1/x","payload":[1]}',
    ]);
    expect(await filled(of(2, 'Edit URL'), { URL: '[::1]:8080/hook' })).toEqual([
      'https://localhost:4443/tapes',
    ]);
    expect(await save('Save')).toEqual([
      'PATCH /rules/r3/actions/a5 {"url":"http://[::1]:8080/hook"}',
    ]);
    for (const [given, url] of [
      ['https://127.0.0.1/y', 'https://127.0.0.1/y'],
      ['  http://localhost/ ', 'http://localhost/'],
      ['8', 'http://127.0.0.1:8'],
      ['80/', 'http://127.0.0.1:80/'],
      ['65535/hook', 'http://127.0.0.1:65535/hook'],
      ['LOCALHOST:80', 'http://LOCALHOST:80'],
      ['my-app.localhost:3000/x', 'http://my-app.localhost:3000/x'],
      ['[::1]', 'http://[::1]'],
      ['[::AB]:80/x', 'http://[::AB]:80/x'],
      // These are not short, and the simulator says what is wrong with them.
      ['655350/hook', '655350/hook'],
      ['80x', '80x'],
      ['localhost', 'localhost'],
      ['localhost:x/80', 'localhost:x/80'],
    ] as const) {
      expect(await filled(of(3, 'Add URL'), { URL: given })).toEqual(['', '']);
      expect(await save('Add')).toEqual([`POST /rules/r4/actions {"url":"${url}"}`]);
    }
  });

  test('of a secret: that of its own action is shown, hidden and copied', async () => {
    const { page, card } = await openWorld();
    const secrets = () => card(1).locator('.secret').allTextContents();
    const hidden = 'whsec_••••••••••••';
    await card(1).getByRole('button', { name: 'Show the secret' }).nth(1).click();
    await card(1).getByText('whsec_ofa3').waitFor();
    expect(await secrets()).toEqual([hidden, 'whsec_ofa3']);
    await card(1).getByRole('button', { name: 'Copy secret' }).first().click();
    await page.getByText('Secret copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('whsec_ofa2');
    await card(1).getByRole('button', { name: 'Hide the secret' }).click();
    await card(1).getByText('whsec_ofa3').waitFor({ state: 'detached' });
    expect(await secrets()).toEqual([hidden, hidden]);
  });

  test('of the filters: failed events are resent of those that are shown', async () => {
    const { page, asks, button, card } = await openWorld();
    await card(1).getByRole('button', { name: 'Events' }).click();
    await page.getByRole('button', { name: 'Rule: Archive' }).waitFor();
    expect(address(page)).toBe('?ruleId=r2');
    await button('Waiting 106').click();
    await page.getByLabel('Event name').selectOption('call:completed');
    await page.getByLabel('Receiver', { exact: true }).selectOption('http://127.0.0.1:3000/crm');
    const shown = 'eventName=call%3Acompleted&ruleId=r2&url=http%3A%2F%2F127.0.0.1%3A3000%2Fcrm';
    expect(address(page).slice(1).split('&').sort()).toEqual(
      ['state=waiting', ...shown.split('&')].sort(),
    );
    expect(await asks(() => button('Resend failed').click())).toEqual([
      `POST /events/resend-failed?state=waiting&${shown}`,
    ]);
    await page.getByText('3 events sent again.').waitFor();
    await asks(() => button('Resend failed').click());
    await page.getByText('1 event sent again.').waitFor();
    await asks(() => button('Resend failed').click());
    await page.getByText('0 events sent again.').waitFor();
    await button('Waiting 106').click();
    await page.getByRole('button', { name: 'Rule: Archive' }).click();
    expect(address(page)).not.toMatch(/ruleId|state/);
    await page.getByLabel('Event name').selectOption('');
    await page.getByLabel('Receiver', { exact: true }).selectOption('');
    expect(address(page)).toBe('');
  });

  test('of the calls and the chaos', async () => {
    const { page, tab, asks, button, confirmed } = await openWorld();
    await tab('Calls');
    expect(
      await asks(() => page.getByRole('button', { name: 'End', exact: true }).nth(1).click()),
    ).toEqual(['POST /calls/c4/end']);
    await page.locator('#panel-calls').getByRole('button', { name: 'Ola Berg' }).click();
    expect(address(page)).toBe('?callId=c2');
    await page.getByRole('button', { name: 'Call: Ola Berg' }).click();
    expect(address(page)).toBe('');
    const place = async (fields: Record<string, string>) => {
      await button('Place a call', '.top').click();
      const dialog = page.getByRole('dialog');
      for (const [label, text] of Object.entries(fields)) await dialog.getByLabel(label).fill(text);
      if (fields['Phone number'] !== undefined) await dialog.getByLabel('Recorded').uncheck();
      await confirmed(() => Promise.resolve(), 'Place');
    };
    expect(await asks(() => place({}))).toEqual([
      'POST /calls {"durationSeconds":20,"recorded":true}',
    ]);
    await page.getByText('Call placed.').waitFor();
    const full = {
      'Phone number': '+1',
      'Name of the person': 'Bo',
      'Duration in seconds': '0',
      'Number of calls': '3',
    };
    const call = '{"calledNumber":"+1","calledName":"Bo","durationSeconds":0,"recorded":false}';
    expect(await asks(() => place(full), 3)).toEqual(Array(3).fill(`POST /calls ${call}`));
    await page.getByText('3 calls placed.').waitFor();

    await tab('Chaos');
    const chaos = page.locator('#panel-chaos');
    await chaos.waitFor();
    const toggle = (name: string) => asks(() => chaos.getByLabel(name, { exact: true }).click());
    expect(await toggle('Duplicate')).toEqual(['PATCH /chaos {"duplicate":0.25}']);
    expect(await toggle('Slow body')).toEqual(['PATCH /chaos {"slowBody":0}']);
    const slide = () => chaos.getByLabel('Probability: Reorder').fill('35');
    expect(await asks(slide)).toEqual(['PATCH /chaos {"reorder":0.35}']);
    expect(await asks(() => button('All off').click())).toEqual(['POST /chaos/clear']);
  });

  test('of an event: it is resent, and its details close', async () => {
    const { page, asks, button } = await openWorld();
    await page.locator('.event-row[data-id=e10]').click();
    await page.locator('#detail-title[data-id=e10]').waitFor();
    expect(await asks(() => button('Resend', '#detail').click())).toEqual([
      'POST /events/e10/resend',
    ]);
    await page.getByText('Sent again as #2 to 127.0.0.1:3000/crm.').waitFor();
    await page.locator('#detail-title[data-id=e2]').waitFor();
    await button('Close').click();
    await page.locator('#detail').waitFor({ state: 'detached' });
    expect(await page.locator(':focus').getAttribute('data-id')).toBe('e2');
    expect(address(page)).toBe('');
  });

  test('of a body: it is edited as it is, and sent as it was edited', async () => {
    const { page, asks, button } = await openWorld();
    await page.locator('.event-row[data-id=e10]').click();
    await page.locator('#detail-title[data-id=e10]').waitFor();
    await button('Edit', '#detail').click();
    const body = page.getByRole('dialog').getByLabel('Body');
    expect(await body.inputValue()).toBe('{\n  "eventName": "call:started"\n}');
    await body.fill(' {"a":  1} ');
    const resend = page.getByRole('dialog').getByRole('button', { name: 'Resend', exact: true });
    expect(await asks(() => resend.click())).toEqual([
      'POST /events/e10/resend {"body":"{\\"a\\":  1}"}',
    ]);
    await page.locator('#detail-title[data-id=e2]').waitFor();
  });

  test('of an attempt: what is copied is what was sent and received', async () => {
    const { page, button } = await openWorld();
    await page.locator('.event-row[data-id=e7]').click();
    await page.locator('#detail-title[data-id=e7]').waitFor();
    await page.locator('#detail').getByText('Attempt 1', { exact: true }).click();
    for (const [name, nth, expected] of [
      ['request body', 0, /^\{"eventName":"call:started","note"/],
      ['response body', 0, /^body 1$/],
      ['response body (truncated)', 0, /^lost$/],
    ] as const) {
      await button(`Copy ${name}`, '#detail').nth(nth).click();
      await page.getByText(`${name[0]!.toUpperCase()}${name.slice(1)} copied.`).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(expected);
    }
  });

  test('of the keyboard: each key asks for what the list of keys says', async () => {
    const { page, asks } = await openWorld();
    const press = (key: string, count = 1) => asks(() => page.keyboard.press(key), count);
    expect(await press('n')).toEqual(['POST /clock/next']);
    expect(await press('a')).toEqual(['POST /clock/advance {"by":"6m"}']);
    expect(await press('i')).toEqual(['POST /clock/run-until-idle']);
    await page.keyboard.press('r'); // nothing is selected
    expect(await asks(() => page.keyboard.press('n'))).toEqual(['POST /clock/next']);
    await page.locator('.event-row[data-id=e10]').click();
    await page.locator('#detail-title[data-id=e10]').waitFor();
    expect(await press('r')).toEqual(['POST /events/e10/resend']);
    await page.locator('#detail-title[data-id=e2]').waitFor();
    await page.keyboard.press('/');
    expect(await page.locator(':focus').getAttribute('id')).toBe('search');
    await page.keyboard.press('n'); // typing is no shortcut
    await page.waitForURL(({ searchParams }) => searchParams.get('q') === 'n');
    await page.locator('h1').click();
    for (const [key, id] of [
      ['1', 'timeline'],
      ['2', 'tab-rules'],
      ['3', 'tab-calls'],
      ['4', 'tab-outbox'],
      ['5', 'tab-chaos'],
    ] as const) {
      await page.keyboard.press(key);
      expect(await page.locator(':focus').getAttribute('id')).toBe(id);
      if (key > '1') await page.locator(`#${id}[aria-selected=true]`).waitFor();
    }
    for (const theme of ['light', 'dark', 'system']) {
      await page.keyboard.press('t');
      await page.getByText(`Theme: ${theme}.`, { exact: true }).waitFor();
    }
  });

  test('of a request: a shell sends the same one', async () => {
    const { page, button } = await openWorld();
    await page.locator('.event-row[data-id=e9]').click();
    await page.locator('#detail-title[data-id=e9]').waitFor();
    await button('Copy curl command', '#detail').click();
    await page.getByText('Curl command copied.').waitFor();
    const command = await page.evaluate<string>('navigator.clipboard.readText()');
    const printed = execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }; ${command}`], {
      encoding: 'utf8',
    });
    expect(printed.split('\0').slice(0, -1)).toEqual([
      ...['-i', 'http://127.0.0.1:3000/crm', '-H', "X-Number: it's 'scheduled' 1"],
      ...['-H', 'Content-Type: application/json'],
      ...['--data-raw', `{"eventName":"call:started","note":"it's $5 \\" \`x\`, 'isn't it"}`],
    ]);
  });
});
