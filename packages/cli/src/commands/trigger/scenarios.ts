import type { Call, ClockView, DeliverySummary, Rule } from '@call-webhooks/simulator';
import type { Connection } from '../../simulator/connection.ts';

/** What a scenario works with. */
export interface Stage {
  readonly connection: Connection;
  /** The fields from `--set`: of a call, or of a message. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly clock: ClockView;
}

/** Something that `trigger` can do. */
export interface Scenario {
  readonly what: string;
  /** How many times without `--count`. */
  readonly count: number;
  /** The event to wait for. Without it, all events of the call. */
  readonly eventName?: string;
  /** Plays the scenario once. @returns the call, if there is one */
  play(stage: Stage): Promise<Call | undefined>;
}

/** How long a call lasts, unless `--set durationSeconds=…` is given: nobody wants to wait. */
const CALL_SECONDS = 1;

const startCall = ({ connection, fields }: Stage) =>
  connection.post<Call>('/calls/start', { recorded: false, ...fields });
const endCall = ({ connection }: Stage, { _id }: Call) =>
  connection.post<Call>(`/calls/${_id}/end`);
const placeCall = ({ connection, fields }: Stage, more: object = {}) =>
  connection.post<Call>('/calls', { durationSeconds: CALL_SECONDS, ...more, ...fields });

/** Places a call and advances a manual clock as far as the call needs. */
async function wholeCall(stage: Stage, more?: object): Promise<Call> {
  const call = await placeCall(stage, more);
  if (stage.clock.mode === 'manual')
    await stage.connection.post('/clock/advance', { by: (call.plannedMs ?? 0) + 3_000 });
  return call;
}

async function rotateAllSecrets({ connection }: Stage): Promise<void> {
  for (const { _id, actions } of await connection.get<Rule[]>('/rules'))
    for (const action of actions)
      if (action.signed) await connection.post(`/rules/${_id}/actions/${action._id}/rotate`);
}

async function sendEverythingTwice(stage: Stage): Promise<Call> {
  const call = await startCall({ ...stage, fields: { ...stage.fields, recorded: false } });
  await endCall(stage, call);
  await stage.connection.post(`/calls/${call._id}/recording`);
  const query = { callId: call._id };
  for (const { _id } of await stage.connection.get<DeliverySummary[]>('/deliveries', query))
    await stage.connection.post(`/deliveries/${_id}/resend`);
  return call;
}

async function sendMessage({ connection, fields }: Stage): Promise<undefined> {
  const { _id } = await connection.post<{ _id: string }>('/messages', {
    subject: 'Our call on Monday',
    to: [{ email: 'ada@example.com', name: 'Ada Example' }],
    ...fields,
  });
  for (const action of ['opened', 'clicked', 'downloaded', 'replied'])
    await connection.post(`/messages/${_id}/activities`, { action });
  return undefined;
}

/** All events and scenarios, by name. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'call:started': {
    what: 'a call starts and continues',
    count: 1,
    eventName: 'call:started',
    play: startCall,
  },
  'call:completed': {
    what: 'a call starts and ends',
    count: 1,
    eventName: 'call:completed',
    play: async (stage) => endCall(stage, await startCall(stage)),
  },
  'call:recording-available': {
    what: 'the recording of a call becomes available',
    count: 1,
    eventName: 'call:recording-available',
    async play(stage) {
      const call = await endCall(stage, await startCall(stage));
      return stage.connection.post<Call>(`/calls/${call._id}/recording`);
    },
  },
  call: {
    what: 'a whole call of one second, with a recording',
    count: 1,
    play: wholeCall,
  },
  'unrecorded-call': {
    what: 'a whole call without a recording',
    count: 1,
    play: (stage) => wholeCall(stage, { recorded: false }),
  },
  duplicate: {
    what: 'a call whose events are all sent twice',
    count: 1,
    play: sendEverythingTwice,
  },
  burst: { what: '20 calls at once', count: 20, play: placeCall },
  rotation: {
    what: 'all secrets are rotated, then a call is placed',
    count: 1,
    async play(stage) {
      await rotateAllSecrets(stage);
      return wholeCall(stage);
    },
  },
  message: {
    what: 'a message is sent, opened, clicked and answered',
    count: 1,
    play: sendMessage,
  },
};
