import { afterEach, describe } from '@jest/globals';
import {
  generateSecret,
  type Outcome,
  type Receiver,
  type ReceiverOptions,
} from '@call-webhooks/core';
import { answerTable } from './adapter/answer-table.ts';
import { oneEvent } from './adapter/one-event.ts';
import { privacy } from './adapter/privacy.ts';
import { requests } from './adapter/requests.ts';
import { verification } from './adapter/verification.ts';
import { collectingLogger } from './collecting-logger.ts';
import { startSender, type Sender } from './sender.ts';

/** A framework's server with the receiver mounted in it, on a free port of the loopback. */
export interface Mounted {
  /** Where deliveries go. */
  url: string;
  receiver: Receiver;
  close(): Promise<void>;
}

export interface AdapterUnderTest {
  name: string;
  mount(options: ReceiverOptions): Promise<Mounted>;
}

/** What each part of the battery gets: a receiver, started with its options, and a sender for it. */
export interface Bench {
  start(options?: Partial<ReceiverOptions>): Promise<Started>;
}

export interface Started extends Mounted {
  secret: string;
  sender: Sender;
  lines: string[];
  outcomes: Outcome[];
}

/** Every row of the answer table, and what happens to one event, over real HTTP. */
export function adapterBattery(adapter: AdapterUnderTest): void {
  describe(`${adapter.name}: the adapter battery`, () => {
    const open: Mounted[] = [];
    afterEach(async () => {
      for (const mounted of open.splice(0)) {
        await mounted.receiver.close({ graceMs: 0 });
        await mounted.close();
      }
    });

    async function start(options: Partial<ReceiverOptions> = {}): Promise<Started> {
      const secret = generateSecret();
      const logger = collectingLogger();
      const outcomes: Outcome[] = [];
      const mounted = await adapter.mount({
        secret,
        logger,
        onOutcome: (outcome) => void outcomes.push(outcome),
        ...options,
      });
      open.push(mounted);
      return {
        ...mounted,
        secret,
        sender: startSender(mounted.url, secret),
        lines: logger.lines,
        outcomes,
      };
    }

    for (const part of [answerTable, oneEvent, verification, requests, privacy]) part({ start });
  });
}
