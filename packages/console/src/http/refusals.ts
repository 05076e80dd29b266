import type { Logger } from '@call-webhooks/core';
import { docsUrl, safeLogger } from '@call-webhooks/core/internal';
import type { RequestError } from './answer.ts';
import type { ConsoleRequest } from './request.ts';

/** At most one line in so long; milliseconds. */
const LINE_MS = 60_000;
const MAX_NETWORKS = 5;

/** What a refusal is called in the log. Other errors are mistakes, and say nothing about who asks. */
const KINDS = {
  unauthorized: 'refused by authorize',
  'cross-origin': 'from another origin',
  'read-only': 'without permission to make changes',
} as const;

/**
 * Leaves a trace of requests that were refused: the first at once, and then one line a minute, so that a
 * flood fills no log. Never of credentials or paths, and of addresses only the network.
 */
export class RefusalLog {
  readonly #logger: Logger;
  readonly #counts = new Map<keyof typeof KINDS, number>();
  readonly #networks = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Counts an error that is answered, if it is a refusal. */
  add({ code, status }: RequestError, request: ConsoleRequest): void {
    if (!isKind(code)) return;
    // So browsers ask whether they have to sign in.
    if (status === 401 && !request.headers.has('authorization')) return;
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
    const network = networkOf(request.raw);
    if (network !== undefined && this.#networks.size < MAX_NETWORKS) this.#networks.add(network);
    if (this.#timer === undefined) this.#write();
  }

  /** Logs what was not logged yet. */
  close(): void {
    clearTimeout(this.#timer);
    this.#write();
    clearTimeout(this.#timer);
  }

  #write(): void {
    this.#timer = undefined;
    if (this.#counts.size === 0) return;
    const refused = Object.fromEntries(this.#counts);
    const what = [...this.#counts].map(([code, count]) => `${String(count)} ${KINDS[code]}`);
    const networks = [...this.#networks];
    const from = networks.length === 0 ? '' : ` They came from ${networks.join(', ')}.`;
    this.#counts.clear();
    this.#networks.clear();
    safeLogger(this.#logger).warn(
      {
        refused,
        ...(networks.length > 0 && { networks }),
        docs: docsUrl('console.md#security'),
      },
      `call-webhooks: console: requests were refused: ${what.join(', ')}.${from} If you do not recognize these requests, someone may be trying to gain access. Further refusals are counted and logged once a minute.`,
    );
    this.#timer = setTimeout(() => this.#write(), LINE_MS);
    this.#timer.unref();
  }
}

const isKind = (code: string): code is keyof typeof KINDS => code in KINDS;

/**
 * The network that a request came from, as far as its framework knows: an address is personal data. Behind
 * a proxy that the framework does not trust, it is that of the proxy.
 * @returns such as `203.0.113.0/24` or `2001:db8:1::/48`
 */
function networkOf(raw: unknown): string | undefined {
  const { ip, socket } = Object(raw) as { ip?: unknown; socket?: { remoteAddress?: unknown } };
  const address = ip ?? socket?.remoteAddress;
  if (typeof address !== 'string') return undefined;
  const [, ipv4] = /^(?:::ffff:)?(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}$/.exec(address) ?? [];
  if (ipv4 !== undefined) return `${ipv4}.0/24`;
  if (address === '::1') return '::1/128';
  const [head = ''] = address.split('::');
  const groups = head.split(':').slice(0, 3);
  return groups.every((group) => /^[\da-f]{1,4}$/i.test(group))
    ? `${groups.join(':')}::/48`
    : undefined;
}
