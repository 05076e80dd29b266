import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { serveLocally } from '@call-webhooks/contract-tests';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import type { Simulator } from '@call-webhooks/simulator';
import { build, type Metafile } from 'esbuild';
import { testResources } from './test-resources.ts';

const open = testResources();
const FOLDER = fileURLToPath(new URL('.', import.meta.url));

/** The client, bundled for browsers. */
interface Bundle {
  /** The files that a page loads at once or later, by name. */
  readonly files: ReadonlyMap<string, string>;
  readonly metafile: Metafile;
}

/**
 * Bundles the client's main entry for browsers, from its sources.
 *
 * @throws esbuild's error, for example when a Node built-in is imported
 */
async function bundleClient(): Promise<Bundle> {
  const result = await build({
    absWorkingDir: FOLDER,
    stdin: {
      contents: `export * from '@call-webhooks/client';`,
      resolveDir: FOLDER,
      sourcefile: 'client.js',
    },
    entryNames: 'client',
    outdir: 'out',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['@call-webhooks/source', 'browser'],
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  const files = result.outputFiles.map(
    ({ path, text }) => [path.split(/[\\/]/).at(-1) ?? path, text] as const,
  );
  return { files: new Map(files), metafile: result.metafile };
}

/**
 * A page that lists events with the bundled client, and then the calls. The token comes after the `#`,
 * which browsers do not send.
 */
const PAGE = `<!doctype html>
<title>Events</title>
<ol></ol>
<p></p>
<script type="module">
  import { createClient } from './client.js';
  const client = createClient({ baseUrl: location.origin, apiToken: location.hash.slice(1) });
  const search = { to: 'ann@example.com', type: 'opened' };
  const list = document.querySelector('ol');
  for await (const event of client.events.iterate({ search }))
    list.appendChild(document.createElement('li')).textContent = event.actionName;
  const calls = await client.calls.list().catch((error) => error);
  document.querySelector('p').textContent = calls.code ?? 'listed';
</script>
`;

/** Adds 25 openings of a message. */
function fillMessages({ messages }: Simulator): void {
  const { _id } = messages.send({ subject: 'Offer', to: 'ann@example.com' });
  for (let opening = 0; opening < 25; opening++)
    messages.record(_id, { action: 'opened', actionName: `Opened, number ${String(opening)}` });
}

/** One origin for the page, the bundle and the service, because the service sends no CORS headers. */
async function startSite(callsAt?: string) {
  const simulator = await open.simulator({ pageSize: 10 });
  fillMessages(simulator);
  const { files } = await bundleClient();
  const paths: string[] = [];
  const site = await serveLocally((request, response) => {
    const path = request.url ?? '/';
    paths.push(path);
    const script = files.get(path.slice(1));
    if (path === '/') response.setHeader('content-type', 'text/html').end(PAGE);
    else if (script !== undefined)
      response.setHeader('content-type', 'text/javascript').end(script);
    else if (path.startsWith('/v1/calls') && callsAt !== undefined)
      response.writeHead(302, { location: callsAt }).end();
    else if (path.startsWith('/v1/')) {
      const headers = { 'x-api-token': String(request.headers['x-api-token']) };
      void fetch(simulator.url + path, { headers }).then(async (answer) => {
        response.writeHead(answer.status, { 'content-type': 'application/json' });
        response.end(await answer.text());
      });
    } else response.writeHead(404).end();
  });
  open.add(site);
  return { origin: site.origin, paths, apiToken: simulator.apiToken };
}

test('bundled for browsers, the client is only its own sources, and loads file access on demand', async () => {
  const { files, metafile } = await bundleClient();
  const inputs = Object.keys(metafile.inputs);
  expect(inputs.filter((path) => !/(^|\/)client\/src\/|client\.js$/.test(path))).toEqual([]);
  const outputs = Object.entries(metafile.outputs);
  const [, entry] = outputs.find(([path]) => path.endsWith('/client.js'))!;
  const imported = entry.imports.filter(({ kind }) => kind === 'import-statement');
  const atOnce = [entry, ...imported.map(({ path }) => metafile.outputs[path])].flatMap((output) =>
    Object.keys(output?.inputs ?? {}),
  );
  expect(atOnce.some((path) => path.endsWith('/recordings.ts'))).toBe(true);
  expect(atOnce.filter((path) => path.endsWith('/save-recording.ts'))).toEqual([]);
  for (const text of files.values())
    expect(text).not.toMatch(/(?:from|import|require\()\s*["']node:/);
});

describeInChromium('the client in a browser', (chromium) => {
  test('lists the events of all pages', async () => {
    const { origin, paths, apiToken } = await startSite();
    const page = await chromium.page();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(`${origin}/#${apiToken}`);
    await page.getByText('listed').waitFor();
    const names = await page.locator('li').allTextContents();
    expect(new Set(names).size).toBe(25);
    expect(names).toContain('Opened, number 0');
    expect(paths.filter((path) => path.startsWith('/v1/events'))).toHaveLength(3);
    expect(errors).toEqual([]);
  });

  test('rejects a redirect, which browsers hide, and sends the token nowhere else', async () => {
    const requests: unknown[] = [];
    const elsewhere = await serveLocally((request, response) => {
      requests.push(request.rawHeaders);
      response.end();
    });
    open.add(elsewhere);
    const { origin, apiToken } = await startSite(`${elsewhere.origin}/calls`);
    const page = await chromium.page();
    await page.goto(`${origin}/#${apiToken}`);
    await page.locator('p', { hasText: 'redirect' }).waitFor();
    expect(requests).toEqual([]);
  });
});
