import { expect, test } from '@jest/globals';
import { callCompleted } from '@call-webhooks/testing';
import { axeFindings } from '@call-webhooks/ui/test/axe';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { hasRows, openConsole, testReceivers } from './open-console.ts';

const ADA = { toName: 'Ada Lovelace', toPhoneNumber: '+491715550123' };
const IDA = { toName: 'Ida Holm', toPhoneNumber: '+15550123456' };
const WHOSE = /Lovelace|1715550123/;

describeInChromium('the console: a person is erased', (chromium) => {
  const start = testReceivers();

  test.each([1440, 390])('what a search found, after a question, at %i px', async (width) => {
    const receiver = await start();
    receiver.tell({ broken: true });
    for (const callId of ['call-1', 'call-2'])
      await receiver.deliver({ ...callCompleted({ callId }), ...ADA });
    await receiver.deliver({ ...callCompleted({ callId: 'call-3' }), ...IDA });
    const viewport = { width, height: 900 };
    const page = await openConsole(chromium, receiver, '?view=dead-letters', { viewport });
    await hasRows(page, 'Dead letters', 3);
    await page.getByText('The oldest dead letter failed').waitFor();
    await page.getByText('Dead letters are kept without a time limit').waitFor();
    const docs = page.getByRole('link', { name: 'How long personal data is kept' });
    expect(await docs.getAttribute('href')).toMatch(/personal-data\.html#how-long-it-is-kept$/);

    const requests: string[] = [];
    page.on('request', (request) => requests.push(`${request.method()} ${request.url()}`));
    await page.getByLabel('Phone number, email address or name').fill('Ada Lovelace');
    await page.getByRole('button', { name: 'Search for a person' }).click();
    await hasRows(page, 'Dead letters of this person', 2);
    const erase = page.getByRole('button', { name: 'Erase this person’s data …' });
    await erase.click();
    const dialog = page.getByRole('dialog', { name: 'Erase this person’s data?' });
    await dialog.getByText('The search has found 2 dead letters so far.').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await hasRows(page, 'Dead letters', 3);
    expect(receiver.logged.map(({ action }) => action)).toEqual(['search']);

    await erase.click();
    await dialog.getByRole('switch', { name: 'Also forget the keys of these events' }).check();
    await dialog.getByRole('button', { name: 'Erase' }).click();
    await page.getByText('2 erased from the dead letters', { exact: true }).waitFor();
    await page.getByText('2 erased from the keys', { exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Last erasure' }).waitFor();
    await hasRows(page, 'Dead letters', 1);
    expect(await page.getByRole('table', { name: 'Dead letters of this person' }).count()).toBe(0);
    expect(receiver.logged.slice(1)).toEqual([
      { action: 'erase', by: 'Ada <Ops>', forgetKeys: true },
    ]);
    expect(requests.join('\n')).toMatch(/POST .*\/api\/erase$/m);
    expect(decodeURIComponent([page.url(), ...requests].join('\n'))).not.toMatch(WHOSE);
    expect(await receiver.store.loadCursor?.('console/erasure')).not.toMatch(WHOSE);
  });

  test('who may only read sees how long letters are kept, and cannot erase', async () => {
    const receiver = await start({ canWrite: false });
    receiver.tell({ broken: true });
    await receiver.deliver({ ...callCompleted(), ...ADA });
    const page = await openConsole(chromium, receiver, '?view=dead-letters');
    await hasRows(page, 'Dead letters', 1);
    await page.getByText('Dead letters are kept without a time limit').waitFor();
    expect(await page.getByRole('button', { name: /Search for a person|Erase/ }).count()).toBe(0);
  });
});
