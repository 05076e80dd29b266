import type { Call } from '@call-webhooks/simulator';
import type { Connection } from '../simulator/connection.ts';
import type { ClockView, DeliverySummary, Rule } from '../simulator/views.ts';

/** What a scenario works with. */
export interface Stage {
  readonly connection: Connection;
  /** What `--set` says: fields of a call, or of a message. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly clock: ClockView;
}

/** Something that can be triggered. */
export interface Scenario {
  readonly what: string;
  /** How many times without `--count`. */
  readonly count: number;
  /** The event whose deliveries are of interest; all of the call without it. */
  readonly eventName?: string;
  /** Makes it happen once. @returns the call, where there is one */
  play(stage: Stage): Promise<Call | undefined>;
}

/** Seconds that a call lasts, unless `--set durationSeconds=` says so: nobody wants to wait. */
const SECONDS = 1;

const start = ({ connection, fields }: Stage) =>
  connection.post<Call>('/calls/start', { recorded: false, ...fields });
const end = ({ connection }: Stage, { _id }: Call) => connection.post<Call>(`/calls/${_id}/end`);
const place = ({ connection, fields }: Stage, more: object = {}) =>
  connection.post<Call>('/calls', { durationSeconds: SECONDS, ...more, ...fields });

/** A whole call, and what the clock has to be turned for it. */
async function wholeCall(stage: Stage, more?: object): Promise<Call> {
  const call = await place(stage, more);
  if (stage.clock.mode === 'manual')
    await stage.connection.post('/clock/advance', { by: (call.plannedMs ?? 0) + 3_000 });
  return call;
}

async function rotateAll({ connection }: Stage): Promise<void> {
  for (const { _id, actions } of await connection.get<Rule[]>('/rules'))
    for (const action of actions)
      if (action.signed) await connection.post(`/rules/${_id}/actions/${action._id}/rotate`);
}

async function everyEventTwice(stage: Stage): Promise<Call> {
  const call = await start({ ...stage, fields: { ...stage.fields, recorded: false } });
  await end(stage, call);
  await stage.connection.post(`/calls/${call._id}/recording`);
  const query = { callId: call._id };
  for (const { _id } of await stage.connection.get<DeliverySummary[]>('/deliveries', query))
    await stage.connection.post(`/deliveries/${_id}/resend`);
  return call;
}

async function message({ connection, fields }: Stage): Promise<undefined> {
  const { _id } = await connection.post<{ _id: string }>('/messages', {
    subject: 'Our call on Monday',
    to: [{ email: 'ada@example.com', name: 'Ada Example' }],
    ...fields,
  });
  for (const action of ['opened', 'clicked', 'downloaded', 'replied'])
    await connection.post(`/messages/${_id}/activities`, { action });
  return undefined;
}

/** Everything that `trigger` knows, by name. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'call:started': {
    what: 'a call starts, and goes on',
    count: 1,
    eventName: 'call:started',
    play: start,
  },
  'call:completed': {
    what: 'a call that was started ends',
    count: 1,
    eventName: 'call:completed',
    play: async (stage) => end(stage, await start(stage)),
  },
  'call:recording-available': {
    what: 'the recording of a call that ended can be downloaded',
    count: 1,
    eventName: 'call:recording-available',
    async play(stage) {
      const call = await end(stage, await start(stage));
      return stage.connection.post<Call>(`/calls/${call._id}/recording`);
    },
  },
  call: {
    what: 'a whole call of a second: started, completed and its recording, in either order',
    count: 1,
    play: wholeCall,
  },
  'unrecorded-call': {
    what: 'the same without a recording',
    count: 1,
    play: (stage) => wholeCall(stage, { recorded: false }),
  },
  duplicate: { what: 'a call with every event sent twice', count: 1, play: everyEventTwice },
  burst: { what: '20 calls at once', count: 20, play: place },
  rotation: {
    what: 'all secrets are rotated, then a call: what a receiver with the old secret does',
    count: 1,
    async play(stage) {
      await rotateAll(stage);
      return wholeCall(stage);
    },
  },
  message: {
    what: 'a message is sent, opened, clicked, downloaded and answered (for `events`; no webhook)',
    count: 1,
    play: message,
  },
};
