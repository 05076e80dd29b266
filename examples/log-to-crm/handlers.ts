import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Recordings } from '@call-webhooks/client';
import type {
  CallCompletedEvent,
  CallRecordingAvailableEvent,
  HandlerContext,
} from '@call-webhooks/core';
import type { Crm } from './crm-client.ts';
import type { KnownCalls, OpenCall } from './known-calls.ts';

export interface Parts {
  readonly calls: KnownCalls;
  readonly crm: Crm;
  readonly recordings: Pick<Recordings, 'fromEvent'>;
  /** Where recordings are kept. */
  readonly folder: string;
  readonly say: (line: string) => void;
}

/**
 * Two handlers that may run in any order, more than once, and again after a crash at any line: each
 * step first looks whether it was done before.
 */
export async function createHandlers({ calls, crm, recordings, folder, say }: Parts) {
  await mkdir(folder, { recursive: true });

  /** Downloads to a name that only a whole recording gets, so the file itself says that it is done. */
  async function download(event: CallRecordingAvailableEvent): Promise<string> {
    const file = join(folder, `${encodeURIComponent(event.callId)}.wav`);
    if (await exists(file)) return file;
    const recording = await recordings.fromEvent(event);
    // Not bound to context.signal: a download that outlives the deadline goes on, and the next
    // delivery of the event finds it done. One that breaks off is continued.
    const { bytes } = await recording.saveTo(file, { resume: true });
    say(`downloaded the recording of ${event.callId}: ${String(bytes)} bytes`);
    return file;
  }

  /** The effect, by its key: the CRM has one entry for a call, and is told only what is new. */
  async function tellCrm(callId: string, open: OpenCall): Promise<void> {
    const { call, recording, inCrm } = open.known;
    // A recording often comes before its call. Its details are kept; the entry begins with the call.
    if (call === undefined) return;
    const { placedBy, number, endedAt } = call;
    const entry = { placedBy, number, endedAt, recording };
    const text = JSON.stringify(entry);
    if (text === inCrm) return;
    await crm.putCall(callId, entry);
    await open.keep({ inCrm: text });
    say(
      `logged ${callId}, ${recording === undefined ? 'without a recording' : 'with its recording'}`,
    );
  }

  return {
    'call:completed': async ({ callId }: CallCompletedEvent, context: HandlerContext) => {
      // Old webhook actions send no callId: nothing to join by.
      if (callId === undefined || callId === null) return;
      const { placedBy, calledNumber: number, endedAt } = context.call;
      const call = {
        ...(placedBy !== undefined && { placedBy }),
        ...(number !== undefined && { number }),
        ...(endedAt !== undefined && { endedAt: endedAt.toISOString() }),
      };
      await calls.open(callId, async (open) => {
        await open.keep({ call });
        await tellCrm(callId, open);
      });
    },
    'call:recording-available': async (event: CallRecordingAvailableEvent) => {
      const { callId, recordingDurationSeconds: seconds } = event;
      const file = await download(event);
      await calls.open(callId, async (open) => {
        await open.keep({ recording: { file, seconds } });
        await tellCrm(callId, open);
      });
    },
  };
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
