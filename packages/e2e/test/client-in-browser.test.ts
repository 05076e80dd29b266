import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/contract-tests/describe-in-chromium';
import { bundleClient } from '../src/browser-bundle.ts';
import { PAGE } from '../src/browser-page.ts';
import { fillMessages } from '../src/messages.ts';
import { sendForwarded, startProxy } from '../src/proxy.ts';
import { startRequestRecorder } from '../src/request-recorder.ts';
import { testResources } from '../src/test-resources.ts';

const open = testResources();

/** One origin for the page, the bundle and the service, because the service sends no CORS headers. */
async function startSite(callsAt?: string) {
  const simulator = await open.simulator({ pageSize: 10 });
  fillMessages(simulator, 25);
  const { files } = await bundleClient();
  const site = await startProxy(simulator.url, async (request, response, forward) => {
    const path = request.url ?? '/';
    const script = files.get(path.slice(1));
    if (path === '/') response.setHeader('content-type', 'text/html').end(PAGE);
    else if (script !== undefined)
      response.setHeader('content-type', 'text/javascript').end(script);
    else if (path.startsWith('/v1/calls') && callsAt !== undefined)
      response.writeHead(302, { location: callsAt }).end();
    else if (path.startsWith('/v1/')) sendForwarded(response, await forward());
    else response.writeHead(404).end();
  });
  return { site: open.add(site), apiToken: simulator.apiToken };
}

describeInChromium('the client in a browser', (chromium) => {
  test('lists the events of all pages', async () => {
    const { site, apiToken } = await startSite();
    const page = await chromium.page();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(`${site.origin}/#${apiToken}`);
    await page.getByText('listed').waitFor();
    const names = await page.locator('li').allTextContents();
    expect(new Set(names).size).toBe(25);
    expect(names).toContain('Opened, number 0');
    expect(site.paths.filter((path) => path.startsWith('/v1/events'))).toHaveLength(3);
    expect(errors).toEqual([]);
  });

  test('rejects a redirect, which browsers hide, and sends the token nowhere else', async () => {
    const elsewhere = open.add(await startRequestRecorder());
    const { site, apiToken } = await startSite(`${elsewhere.origin}/calls`);
    const page = await chromium.page();
    await page.goto(`${site.origin}/#${apiToken}`);
    await page.locator('p', { hasText: 'redirect' }).waitFor();
    expect(elsewhere.requests).toEqual([]);
  });
});
