import {
  createReceiver,
  memoryDeadLetters,
  type HandlerContext,
  type Outcome,
} from '@call-webhooks/core';
import { callWebhooks } from '@call-webhooks/express';
import { instrument, type Telemetry } from '@call-webhooks/opentelemetry';
import { redrive, type RedriveResult } from '@call-webhooks/recovery';
import { startSimulator, type WebhookEvent } from '@call-webhooks/simulator';
import { sqliteStore } from '@call-webhooks/sqlite';
import type Database from 'better-sqlite3';

const outcomes: Outcome[] = [];
const hook = callWebhooks({
  secret: process.env['SECRET'],
  onOutcome: (outcome) => outcomes.push(outcome),
  on: {
    'call:recording-available': (event, context: HandlerContext) => {
      const url: string | null | undefined = event.recordingUrl;
      return [url, context.attempt];
    },
  },
});
void hook.receiver.close();

export const telemetry: Telemetry = instrument();
export const redriven = (): Promise<RedriveResult> =>
  redrive({ receiver: hook.receiver, deadLetters: memoryDeadLetters() });

export const store = (db: Database.Database) => sqliteStore(db);

export async function started(): Promise<WebhookEvent[]> {
  const simulator = await startSimulator({ clock: 'manual' });
  await simulator.clock.advance('1h');
  return simulator.events.list({ state: 'acknowledged' });
}

// @ts-expect-error a misspelled event name does not compile
createReceiver({ secret: 'x', on: { 'call:complete': () => undefined } });
