import {
  OUTCOMES,
  sign,
  WebhookError,
  type Outcome,
  type OutcomeCode,
  type Profile,
  type Receiver,
  type StoredDeadLetter,
  type Store,
} from '@call-webhooks/core';
import { CliError, EXIT } from '../../errors.ts';
import { requireReached } from '../../http/effect.ts';
import { post, type PostResult } from '../../http/post.ts';

/** How a running receiver is reached. */
export interface HttpReceiverOptions {
  readonly url: string;
  readonly secret: string;
  readonly headerPrefix?: string | undefined;
  readonly profile?: Profile | undefined;
  /** Milliseconds. */
  readonly timeout: number;
}

const FAILED: readonly OutcomeCode[] = ['handler-failed', 'invalid-payload'];
/** Nobody can tell yet how the event ends: its handler may be running. */
const RUNNING: readonly OutcomeCode[] = ['deadline', 'in-progress'];

/**
 * Redrives over HTTP: makes the event free in its store, signs the raw body anew and posts it to a
 * receiver on that store. Where the receiver did not take the event, it becomes dead-lettered again.
 */
export function httpReceiver(
  store: Store,
  options: HttpReceiverOptions,
): Pick<Receiver, 'deliver'> {
  return {
    async deliver(input) {
      const letter = input as StoredDeadLetter;
      if (letter.key !== undefined) await store.reopen?.(letter.key);
      const result = await send(letter, options);
      const code = outcomeOf(result);
      const isTaken = code !== undefined && OUTCOMES[code].service === 'acknowledged';
      if (!isTaken && !(code && RUNNING.includes(code)) && result.kind !== 'timeout')
        await markDead(store, letter.key);
      requireReached(options.url, result);
      if (result.kind !== 'status')
        return outcome('deadline', letter, 'It did not answer in time.');
      const answer = `The receiver answered ${String(result.status)} ${code ?? 'without an outcome'}.`;
      if (code && FAILED.includes(code))
        return outcome(code, letter, `${answer} Its log has the error.`);
      if (code && (isTaken || RUNNING.includes(code))) return outcome(code, letter, answer);
      throw new CliError(EXIT.receiverFailed, answer, fixOf(code, result.status));
    },
  };
}

async function send(letter: StoredDeadLetter, options: HttpReceiverOptions): Promise<PostResult> {
  const { url, timeout, secret, headerPrefix, profile } = options;
  const body = letter.rawBody;
  // With the profile, the webhook id tells events without a key apart.
  const webhookId = profile === undefined ? undefined : letter.webhookId;
  const signature = await sign({ secret, body, headerPrefix, profile, webhookId });
  const headers = { 'Content-Type': 'application/json', ...signature };
  // Ctrl-C waits for it: the receiver goes on anyway.
  return post({ url, headers, body, timeout }, new AbortController().signal);
}

/** The outcome in a response of our receiver. Anything else may have answered instead. */
function outcomeOf(result: PostResult): OutcomeCode | undefined {
  if (result.kind !== 'status') return undefined;
  try {
    const { outcome: code } = JSON.parse(result.body.toString()) as { outcome?: string };
    if (code === undefined || !Object.hasOwn(OUTCOMES, code)) return undefined;
    return OUTCOMES[code as OutcomeCode].status === result.status
      ? (code as OutcomeCode)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Nobody holds the event: until it is redriven, its deliveries shall not run. */
async function markDead(store: Store, key: string | undefined): Promise<void> {
  if (key === undefined) return;
  const token = crypto.randomUUID();
  const claim = { key, token, webhookId: `redrive.${token}`, replayUntil: Date.now() };
  const { status } = await store.admit({ ...claim, leaseMs: 60_000 });
  if (status === 'admitted') await store.complete(key, token, 'dead-lettered');
}

const outcome = (code: OutcomeCode, letter: StoredDeadLetter, message: string): Outcome => ({
  outcome: code,
  source: 'redrive',
  status: OUTCOMES[code].status,
  durationMs: 0,
  attempt: letter.attempt + 1,
  error: new WebhookError(code, message),
});

function fixOf(code: OutcomeCode | undefined, status: number): string {
  if (status === 401) return 'Check --secret. No letter was lost.';
  return code === undefined
    ? 'Check --to: is it the path of the receiver? No letter was lost.'
    : `${OUTCOMES[code].fix} No letter was lost.`;
}
