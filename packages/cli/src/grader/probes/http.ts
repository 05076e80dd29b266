import { accepted, found, isAcknowledged, notedUnless } from '../findings.ts';
import type { Probe } from '../probe.ts';
import { chunked, type RequestChanges } from '../request-bytes.ts';
import { SPEC } from '../spec.ts';

const needs = ['secret'] as const;
const NAMES = 'Header names are case-insensitive in HTTP. Look them up without regard to case.';

/** An authentic delivery in an unusual request, which has to be accepted. */
const unusual = (
  id: string,
  title: string,
  weight: number,
  fix: string,
  change: (body: Buffer) => RequestChanges,
): Probe => ({
  id,
  group: 'http',
  title,
  spec: SPEC.post,
  fix,
  weight,
  needs,
  async run(receiver) {
    const event = receiver.event();
    return accepted(await receiver.deliver(event, change(event.body)));
  },
});

/** What the interface doesn't show; only a 404 would be wrong, and `never-404` counts it. */
const unspecified = (
  id: string,
  title: string,
  fix: string,
  change: (path: URL) => RequestChanges,
): Probe => ({
  id,
  group: 'http',
  title,
  spec: SPEC.notShown,
  fix,
  weight: 0,
  needs,
  run: async (receiver) =>
    notedUnless(isAcknowledged, await receiver.deliver(receiver.event(), change(receiver.url))),
});

const upper = (name: string) => name.toUpperCase();
const lower = (name: string) => name.toLowerCase();

/** Unusual requests, and all statuses. */
export const http: readonly Probe[] = [
  unusual('lower-case-headers', 'Header names in lower case', 4, NAMES, () => ({ spell: lower })),
  unusual('upper-case-headers', 'Header names in upper case', 4, NAMES, () => ({ spell: upper })),
  unusual(
    'further-headers',
    'Thirty further headers',
    2,
    'Ignore headers that you do not know.',
    () => ({
      more: Array.from({ length: 30 }, (_, at) => `X-Further-${String(at)}: 1`),
    }),
  ),
  unusual(
    'chunked',
    'A body in chunks',
    1,
    'HTTP/1.1 servers accept chunked requests (RFC 9112, 7.1).',
    (body) => ({
      framing: ['Transfer-Encoding: chunked'],
      body: chunked(body),
    }),
  ),
  unspecified('content-type', 'No Content-Type', 'Ignore it: it is not shown.', () => ({
    contentType: null,
  })),
  unspecified(
    'content-type-text',
    'Content-Type: text/plain',
    'Ignore it: it is not shown.',
    () => ({
      contentType: 'text/plain',
    }),
  ),
  unspecified('query', 'A query after the path', 'Ignore it.', ({ pathname }) => ({
    path: `${pathname}?check=1`,
  })),
  unspecified(
    'trailing-slash',
    'A slash after the path',
    'Serve it too, or return 503: a 404 for a URL with a typing error pauses the rule.',
    ({ pathname }) => ({ path: `${pathname}/` }),
  ),
  {
    id: 'get',
    group: 'http',
    title: 'A GET',
    spec: SPEC.notShown,
    fix: 'Return 405: the service sends POST only.',
    weight: 0,
    needs: [],
    async run(receiver) {
      const empty = receiver.sign('');
      const answer = await receiver.send(empty, { method: 'GET', signed: [], framing: [] });
      return notedUnless(({ status }) => status === 405, answer);
    },
  },
  {
    id: 'never-404',
    group: 'http',
    title: 'No POST to the URL was answered 404',
    spec: SPEC.notFound,
    fix: 'Answer 401, 409, 422, 500 or 503 instead.',
    weight: 10,
    needs: [],
    last: true,
    run({ statuses }) {
      if (statuses.size === 0) return Promise.resolve(found.skipped('there was no response'));
      const count = statuses.get(404);
      return Promise.resolve(
        count === undefined ? found.pass('none') : found.fail(`${count} of them`),
      );
    },
  },
  {
    id: 'redirects',
    group: 'http',
    title: 'Redirects and 410',
    spec: SPEC.notShown,
    fix: 'Avoid 3xx and 410: it is not shown how the service treats them beyond a retry.',
    weight: 0,
    needs: [],
    last: true,
    run({ statuses }) {
      const seen = [...statuses.keys()].filter(
        (status) => status === 410 || (status >= 300 && status < 400),
      );
      return Promise.resolve(
        seen.length === 0 ? found.pass('none') : found.note(`${seen.join(', ')} seen`),
      );
    },
  },
];
