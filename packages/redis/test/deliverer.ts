import {
  createReceiver,
  generateSecret,
  sign,
  type HandlerContext,
  type ReceiverOptions,
} from '@call-webhooks/core';
import { callBody, collectingLogger, waitFor } from '@call-webhooks/contract-tests';

export interface Deliverer {
  /** Delivers one event under a new webhook id, as a retry of the service does; gives the outcome's code. */
  deliver(callId: string): Promise<string>;
  /** Delivers it until it is handled or known as a duplicate. */
  retry(callId: string): Promise<void>;
  /** `callId attempt` of each run of the handler. */
  runs: string[];
  health(): Promise<boolean>;
  close(): Promise<void>;
}

/** A receiver, and the service's side of it. No answer may take 2 s. */
export function deliverer(
  options: Omit<ReceiverOptions, 'secret' | 'on'>,
  handle: (callId: string, context: HandlerContext) => unknown = () => undefined,
): Deliverer {
  const secret = generateSecret();
  const runs: string[] = [];
  const receiver = createReceiver({
    logger: collectingLogger(),
    ...options,
    secret,
    on: {
      'call:completed': (event, context) => {
        runs.push(`${String(event.callId)} ${String(context.attempt)}`);
        return handle(String(event.callId), context);
      },
    },
  });

  async function deliver(callId: string): Promise<string> {
    const body = Buffer.from(callBody(callId));
    const headers = await sign({ secret, body });
    const startedAt = performance.now();
    const { outcome } = (await receiver.receive({ headers, body })).outcome;
    const took = performance.now() - startedAt;
    if (took > 2_000) throw new Error(`${outcome} only after ${String(Math.round(took))} ms`);
    return outcome;
  }

  return {
    deliver,
    runs,
    retry: (callId) =>
      waitFor(async () => ['handled', 'duplicate'].includes(await deliver(callId)), {
        every: 50,
        within: 60_000,
        what: `${callId} is handled`,
      }),
    health: async () => (await receiver.health()).ok,
    close: () => receiver.close({ graceMs: 0 }),
  };
}
