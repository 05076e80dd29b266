import { expect, test } from '@jest/globals';
import { waitFor } from '@call-webhooks/contract-tests';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { expectSeen } from '@call-webhooks/ui/test/seen';
import { ANSWERS, NOW } from './fixed-answers.ts';
import { openFixed, refusal } from './open-fixed.ts';

const VIEW = '?view=dead-letters';
const TASKS = ANSWERS['api/tasks'];
const LETTER = ANSWERS['api/dead-letters/l-1'];
const COUNTS = {
  ...{ handled: 2, queued: 0, failed: 1, alreadyHandled: 0, unknown: 0, skipped: 0, notFound: 0 },
};
const redrive = (id: string, state: string) => ({
  'api/tasks': {
    ...TASKS,
    redrive: {
      ...{ id, state, by: null, startedAt: NOW, endedAt: null, savedAt: NOW, counts: COUNTS },
      ...{ total: 3, countedAt: NOW, retries: 0 },
    },
  },
});

/** Runs in the page, before its own scripts: counts the listeners of the document. */
const countListeners = `{
  const { addEventListener, removeEventListener } = Document.prototype;
  const kept = [];
  window.listeners = () => kept.map(([type]) => type).sort();
  document.addEventListener = function (...given) {
    kept.push(given);
    return addEventListener.apply(this, given);
  };
  document.removeEventListener = function (...given) {
    const at = kept.findIndex(([type, run]) => type === given[0] && run === given[1]);
    if (at >= 0) kept.splice(at, 1);
    return removeEventListener.apply(this, given);
  };
}`;

describeInChromium('notices and dialogs', (chromium) => {
  test('the end of a task that was seen running is told once, and that of others is not', async () => {
    const { page, pass, answer } = await openFixed(chromium, VIEW, redrive('old', 'done'), {
      isStill: true,
    });
    await expectSeen(page, '#notices', []);
    answer(redrive('new', 'running'));
    await pass(5_100);
    await expectSeen(page, '#notices', []);
    answer(redrive('new', 'done'));
    await pass(1_100);
    const told = ['Redrive ended: 2 handled, 1 failed again.', '<Close this message>'];
    await expectSeen(page, '#notices', told);
    await pass(4_000);
    await expectSeen(page, '#notices', told);
    await pass(1_100); // five seconds after it was told
    await expectSeen(page, '#notices', []);
    await pass(11_000);
    await expectSeen(page, '#notices', []);
  });

  test('what went wrong stays, once, until it is closed', async () => {
    const query = `${VIEW}&letter=l-1`;
    const changes = { 'api/redrive': refusal(409, 'already-running') };
    const { page, pass } = await openFixed(chromium, query, changes, { isStill: true });
    const told = ['It did not work.', '<Close this message>'];
    for (let times = 0; times < 2; times++) {
      await page.getByRole('button', { name: 'Redrive', exact: true }).click();
      await pass(0);
      await expectSeen(page, '#alerts', told);
    }
    await pass(60_000);
    await expectSeen(page, '#alerts', told);
    await page.getByRole('button', { name: 'Close this message' }).click();
    await expectSeen(page, '#alerts', []);
  });

  test('a task that was started here is shown at once, and then as the polls have it', async () => {
    const { page, pass, answer } = await openFixed(chromium, VIEW, {}, { isStill: true });
    const begun = redrive('own', 'running');
    answer({ ...begun, 'api/redrive': begun['api/tasks'] });
    await page.getByRole('button', { name: 'Redrive all …' }).click();
    await pass(0);
    await page.getByRole('dialog').getByRole('button', { name: 'Redrive', exact: true }).click();
    await pass(0);
    await expectSeen(page, '#redrive-heading', ['# Redrive in progress']);
    answer(redrive('own', 'stopped'));
    await pass(1_100);
    await expectSeen(page, '#redrive-heading', ['# Last redrive']);
    answer(redrive('of another process', 'running'));
    await pass(5_100);
    await expectSeen(page, '#redrive-heading', ['# Redrive in progress']);
  });

  test('at most four errors are shown, the latest, each once, beside what succeeded', async () => {
    const { page, answer } = await openFixed(chromium, `${VIEW}&letter=l-1`);
    const button = page.getByRole('button', { name: 'Redrive', exact: true });
    for (const message of ['One.', 'Two.', 'Two.', 'Three.', 'Four.', 'Five.']) {
      answer({ 'api/redrive': refusal(409, 'already-running', message) });
      await button.click();
      await page.locator('#alerts').getByText(message).waitFor();
      await page.locator('[aria-busy]').waitFor({ state: 'detached' });
    }
    const latest = ['Two.', 'Three.', 'Four.', 'Five.'];
    await expectSeen(page, '#alerts p', latest);
    // What succeeds displaces none of them, and is displaced by none.
    await page.getByRole('button', { name: 'Change between light and dark' }).click();
    await expectSeen(page, '#notices p', ['Theme: light.']);
    await expectSeen(page, '#alerts p', latest);
    answer({ 'api/redrive': refusal(409, 'already-running', 'Six.') });
    await button.click();
    await expectSeen(page, '#alerts p', [...latest.slice(1), 'Six.']);
    await expectSeen(page, '#notices p', ['Theme: light.']);
  });

  test('Escape closes a dialog, but not while what it asked for, once, is on its way', async () => {
    const { page, posted } = await openFixed(chromium, VIEW, { 'api/redrive': TASKS });
    const open = page.getByRole('button', { name: 'Redrive all …' });
    const dialog = page.getByRole('dialog');
    await open.click();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    await page.route('**/api/redrive', async (route) => {
      await held;
      await route.fallback();
    });
    await open.click();
    await dialog.getByRole('button', { name: 'Redrive' }).click();
    await dialog.locator('[aria-busy=true]').waitFor();
    await expectSeen(page, 'dialog .buttons', ['<Cancel disabled> <Redrive busy>']);
    await dialog.getByRole('button', { name: 'Redrive' }).click();
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    expect(await dialog.count()).toBe(1);
    go();
    await dialog.waitFor({ state: 'detached' });
    expect(posted()).toHaveLength(1);
  });

  test.each([
    ['Redrive', `${VIEW}&letter=l-1`, 'redrive'],
    ['Show personal data', `${VIEW}&letter=l-1`, 'dead-letters/l-1/reveal'],
    ['Dry run', '?view=reconcile', 'reconcile'],
    ['Search for a person', VIEW, 'dead-letters/search'],
  ])(
    '"%s" is asked for once, however often it is clicked meanwhile, and again afterwards',
    async (name, query, path) => {
      const { page, asked } = await openFixed(chromium, query, {
        [`api/${path}`]: refusal(409, 'already-running', 'No.'),
      });
      const posts = () => asked.filter((one) => one.startsWith('POST')).length;
      let go: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (go = resolve));
      await page.route(`**/api/${path}`, async (route) => {
        await held;
        await route.fallback();
      });
      if (name.startsWith('Search'))
        await page.getByLabel('Phone number, email address or name').fill('Ada');
      const button = page.getByRole('button', { name, exact: true });
      await button.dblclick();
      await page.locator('button[aria-busy=true]', { hasText: name }).waitFor();
      await button.click();
      await button.press('Enter');
      go();
      await page.locator('[aria-busy]').waitFor({ state: 'detached' });
      expect(posts()).toBe(1);
      await button.click();
      await waitFor(() => posts() === 2);
    },
  );

  test('a body is copied as it was sent, shown formatted or raw', async () => {
    const body = { ...LETTER.body, text: '{"a":"\u202e" , "n":1}' };
    const answers = { 'api/dead-letters/l-1': { ...LETTER, body } };
    const { page } = await openFixed(chromium, `${VIEW}&letter=l-1`, answers, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByRole('button', { name: 'Copy body' }).click();
    await page.getByText('Body copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(body.text);
    const shown = page.getByRole('region', { name: 'Body' });
    expect(await shown.textContent()).toBe('{\n  "a": "\\u202e",\n  "n": 1\n}');
    await page.getByRole('button', { name: 'Raw' }).click();
    await shown.getByText('{"a":"\\u202e" , "n":1}').waitFor();
  });

  test('a click in a row opens it, but not the end of a selection of its text', async () => {
    const { page, address } = await openFixed(chromium, VIEW);
    const error = page.locator('table[aria-label="Dead letters"] .error-line').first();
    await error.dblclick();
    await page.evaluate('getSelection().removeAllRanges()');
    const opened = address();
    await page.goto(page.url().replace(/&letter.*/, ''));
    await error.waitFor();
    await error.evaluate((element: unknown) => {
      (globalThis as unknown as { getSelection(): Selecting })
        .getSelection()
        .selectAllChildren(element);
    });
    await error.dispatchEvent('click');
    expect([opened, address()]).toEqual([`${VIEW}&letter=l-1`, VIEW]);
    await page.evaluate('getSelection().removeAllRanges()');
    await error.dispatchEvent('click');
    expect(address()).toBe(`${VIEW}&letter=l-1`);
  });

  test('views that were left leave no listener behind', async () => {
    const { page } = await openFixed(chromium, '');
    await page.addInitScript(countListeners);
    await page.reload();
    const visit = async () => {
      for (const name of ['Deliveries', /^Dead letters/, 'Reconcile', 'Now']) {
        await page.getByRole('navigation').getByRole('link', { name }).click();
        await page.locator('.view-head h2').waitFor();
        await page.waitForLoadState('networkidle');
      }
      return page.evaluate<string[]>('listeners()');
    };
    const { length } = await visit();
    for (let visits = 0; visits < 6; visits++) await visit();
    // One that stayed would be there six times. The views at the two ends may be coming or going.
    const count = () => page.evaluate<number>('listeners().length');
    for (let left = 400; (await count()) >= length + 5 && left > 0; left--)
      await page.waitForTimeout(20);
    expect(await count()).toBeLessThan(length + 5);
  });
});

interface Selecting {
  selectAllChildren(element: unknown): void;
}
