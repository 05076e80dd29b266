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
  /** The folder for recordings. */
  readonly folder: string;
  readonly say: (line: string) => void;
}

/**
 * Two handlers that can run in any order, more than once, and again after a crash at any line. Each
 * step first checks whether it is already done.
 */
export async function createHandlers({ calls, crm, recordings, folder, say }: Parts) {
  await mkdir(folder, { recursive: true });

  /** Only a complete recording gets its final file name, so the file shows that the download is done. */
  async function download(callId: string, recordingUrl: string | undefined): Promise<string> {
    const file = join(folder, `${encodeURIComponent(callId)}.wav`);
    if (await exists(file)) return file;
    const recording = await recordings.fromEvent({ callId, recordingUrl });
    // Not tied to context.signal: the download continues after the deadline, and the next delivery
    // of the event finds it complete. An interrupted download is resumed.
    const { bytes } = await recording.saveTo(file, { resume: true });
    say(`downloaded the recording of ${callId}: ${String(bytes)} bytes`);
    return file;
  }

  /** Updates the CRM's entry of a call, if there is something new. */
  async function tellCrm(callId: string, open: OpenCall): Promise<void> {
    const { call, recording, inCrm } = open.known;
    // A recording often arrives before its call. The entry is created with the call.
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
      // Without a callId, there is nothing to join by.
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
      const { callId, recordingUrl, recordingDurationSeconds: seconds } = event;
      if (callId === undefined || callId === null) return;
      const file = await download(callId, recordingUrl ?? undefined);
      await calls.open(callId, async (open) => {
        await open.keep({ recording: { file, seconds: seconds ?? undefined } });
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
