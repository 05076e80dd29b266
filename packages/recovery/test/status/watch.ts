import { status, type Attention } from '@call-webhooks/recovery';
import { DAY, HOUR, MINUTE, MONDAY, ServiceModel, type History } from './service-model.ts';

/** What was shown for some time. Times are milliseconds since the start of the history. */
export type Alarm = Pick<Attention, 'kind' | 'urgent' | 'by' | 'tenant' | 'eventName'> & {
  readonly first: number;
  last: number;
  /** How often it began. */
  times: number;
  text: string;
};

/** When somebody looks. Milliseconds since the start of the history. */
export interface Looks {
  readonly from?: number;
  readonly until?: number;
  /** From here on, for 20 minutes, they look each minute, and for two hours every 5 minutes. */
  readonly incident?: number;
  /** Otherwise so often; every 30 minutes by default. */
  readonly every?: number;
}

/** Lets a history happen, and gathers what status shows. */
export async function watch(history: History, looks: Looks = {}) {
  const { from = 0, until = (history.days ?? 13) * DAY, incident, every = 30 * MINUTE } = looks;
  const model = new ServiceModel(history);
  const alarms = new Map<string, Alarm>();
  for (let time = from; time <= until; time += Math.min(every, pauseAfter(time, incident))) {
    await model.agenda.runUntil(MONDAY + time);
    const { attention } = await status({ store: model.store });
    for (const { kind, urgent, by, tenant, eventName, text } of attention) {
      const id = JSON.stringify([kind, urgent, by, tenant, eventName]);
      const one = alarms.get(id) ?? {
        kind,
        urgent,
        by,
        tenant,
        eventName,
        first: time,
        last: -1,
        times: 0,
        text,
      };
      if (one.last < time - every) one.times += 1;
      one.last = time;
      one.text = text;
      alarms.set(id, one);
    }
  }
  return { model, alarms: [...alarms.values()] };
}

function pauseAfter(time: number, incident = Infinity): number {
  if (time < incident) return incident - time;
  if (time < incident + 20 * MINUTE) return MINUTE;
  return time < incident + 2 * HOUR ? 5 * MINUTE : Infinity;
}

/** How long after the first delivery that was not acknowledged since then; milliseconds. */
export const afterFailure = (model: ServiceModel, alarm: Alarm, since: number): number =>
  MONDAY + alarm.first - (model.failures.find((at) => at >= MONDAY + since) ?? NaN);

/** An alarm as tests compare it. */
export const shown = ({ kind, urgent, by, tenant, eventName }: Alarm): string =>
  [urgent ? 'urgent' : '', kind, by && `by ${by}`, eventName, tenant && `of ${tenant}`]
    .filter(Boolean)
    .join(' ');
