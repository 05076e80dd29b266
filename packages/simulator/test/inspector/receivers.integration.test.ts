import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { openInspector } from './open-inspector.ts';
import { testResources } from '../support/test-resources.ts';

const FONTS = ['DejaVu Sans', 'DejaVu Serif', 'monospace'];
const WIDTHS = [1440, 1024, 960, 900, 390, 360, 320];

describeInChromium('two receivers, one of which fails', (chromium) => {
  const open = testResources();

  async function twoReceivers(status: number, outcome: string) {
    const simulator = await open.simulator({ maxAttempts: 3 });
    const [good, bad] = await Promise.all([
      open.receiver((_received, response) => {
        response.end('{"outcome":"handled"}');
      }),
      open.receiver((_received, response) => {
        response.writeHead(status).end(`{"outcome":"${outcome}"}`);
      }),
    ]);
    for (const [name, { url }] of [
      ['To the CRM', good],
      ['To the archive', bad],
    ] as const)
      simulator.rules.create({
        trigger: 'call:started',
        scope: 'workspace',
        name,
        actions: [{ url }],
      });
    simulator.calls.start();
    await simulator.events.settled();
    const short = ({ url }: { url: string }) => url.replace('http://', '');
    return { simulator, good, bad, short };
  }

  test('the row and the details say which receiver failed, how, and what to do', async () => {
    const { simulator, good, bad, short } = await twoReceivers(401, 'signature-mismatch');
    const { page } = await openInspector(chromium, simulator);
    const failed = page.locator('.event-row[data-state=waiting]');
    await failed.getByText('signature-mismatch').waitFor();
    await failed.getByText(short(bad)).waitFor();
    const handled = page.locator('.event-row[data-state=acknowledged]');
    await handled.getByText('handled', { exact: true }).waitFor();
    await handled.getByText(short(good)).waitFor();

    await failed.click();
    const note = page.locator('#detail .outcome-note');
    await note.getByText('No configured secret matches the signature').waitFor();
    await note.getByText('Check that the secret of this webhook action is configured').waitFor();
    await page.locator('#detail .properties').getByText(bad.url).waitFor();

    await page.getByRole('button', { name: 'Resend' }).click();
    await page.getByText(`Sent again as #3 to ${short(bad)}.`).waitFor();
  });

  test('the receiver is a filter, and a paused rule names it', async () => {
    const { simulator, bad, short } = await twoReceivers(404, 'none');
    const { page } = await openInspector(chromium, simulator);
    await page
      .locator('#paused')
      .getByText(`“To the archive” to ${short(bad)} is paused`)
      .waitFor();
    await page.getByLabel('Receiver', { exact: true }).selectOption(bad.url);
    await page.locator('.timeline li:only-child .event-row[data-state=failed]').waitFor();
  });

  test('the filter can be seen and taken away, although only one receiver is left', async () => {
    const { simulator, good } = await twoReceivers(500, 'handler-failed');
    const { page } = await openInspector(chromium, simulator);
    const filter = page.getByLabel('Receiver', { exact: true });
    await filter.selectOption(good.url);
    await page.locator('.timeline li:only-child .event-row').waitFor();
    const archive = simulator.rules.list().find(({ name }) => name === 'To the archive');
    simulator.rules.remove(archive!._id);
    await page.getByRole('heading', { name: 'To the archive' }).waitFor({ state: 'hidden' });
    await filter.waitFor();
    expect(await filter.inputValue()).toBe(good.url);
    await filter.selectOption('');
    await page.locator('.timeline li:nth-child(2)').waitFor();
    await filter.waitFor({ state: 'hidden' });
  });

  test('filters and selection are in the address: reload and Back work', async () => {
    const { simulator, good } = await twoReceivers(500, 'handler-failed');
    const { page } = await openInspector(chromium, simulator);
    await page.getByLabel('Receiver', { exact: true }).selectOption(good.url);
    await page.locator('.timeline li:only-child .event-row').click();
    const title = page.locator('#detail').getByRole('heading', { name: '#1' });
    await title.waitFor();
    await page.reload();
    await title.waitFor();
    await page.locator('.timeline li:only-child .event-row').waitFor();
    expect(await page.getByLabel('Receiver', { exact: true }).inputValue()).toBe(good.url);
    await page.goBack();
    await page.locator('#detail').waitFor({ state: 'hidden' });
    await page.goBack();
    await page.locator('.timeline li:nth-child(2)').waitFor();
    await page.goForward();
    await page.locator('.timeline li:only-child').waitFor();
  });

  test.each(FONTS)('nothing overlaps or overflows in %s', async (font) => {
    const { simulator, bad } = await twoReceivers(401, 'timestamp-out-of-tolerance');
    await bad.close();
    simulator.calls.start({ calledName: 'A rather long name of somebody who was called' });
    await simulator.events.settled();
    // The page's own policy forbids this style, as it should.
    const { page } = await openInspector(chromium, simulator, { bypassCSP: true });
    await page.addStyleTag({ content: `* { font-family: '${font}' !important; }` });
    await page.locator('.event-row').getByText('ECONNREFUSED', { exact: true }).first().waitFor();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      const measured = await page.evaluate(MEASURE);
      expect({ width, measured }).toEqual({ width, measured: { sideways: [], overlaps: [] } });
    }
  });
});

/** Elements beyond the right edge, and the parts of rows that are printed over each other. */
const MEASURE = `(() => {
  const nameOf = (element) => element.className || element.tagName;
  const shown = (element) => element.getClientRects().length > 0;
  const sideways = document.documentElement.scrollWidth > innerWidth ? ['page'] : [];
  for (const element of document.querySelectorAll('.top *, .stream *'))
    if (shown(element) && !element.closest('.visually-hidden, h1') && element.getBoundingClientRect().right > innerWidth + 1)
      sideways.push(nameOf(element));
  const overlaps = [];
  for (const row of document.querySelectorAll('.event-row')) {
    const parts = [...row.querySelectorAll('.mark, .event, .number, .pips, .answer, .took, .when, .note > *')]
      .filter(shown)
      .map((element) => ({ name: nameOf(element), box: element.getBoundingClientRect() }));
    for (const [at, one] of parts.entries())
      for (const other of parts.slice(at + 1)) {
        const x = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const y = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        if (x > 1 && y > 3) overlaps.push(one.name + ' and ' + other.name);
      }
  }
  return { sideways: [...new Set(sideways)], overlaps: [...new Set(overlaps)] };
})()`;
