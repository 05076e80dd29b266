import { DAY, HOUR, MINUTE, MONDAY, type History, type Run } from './service-model.ts';

/** Wednesday of the second week at 10:00 UTC; milliseconds since the start of the history. */
export const INCIDENT = 9 * DAY + 10 * HOUR;
/** The same; milliseconds since the epoch. */
export const INCIDENT_AT = MONDAY + INCIDENT;

/** Whether a time is in the hours that begin with the incident; milliseconds since the epoch. */
export const isWithin = (time: number, ms: number): boolean =>
  time >= INCIDENT_AT && time < INCIDENT_AT + ms;

/** A handler that succeeds, and takes 50 to 450 ms. */
export const quickHandler = ({ random }: Run) => ({ isOk: true, ms: 50 + random() * 400 });

/**
 * Everyday trouble: some deliveries come twice, some responses are lost, both processes are replaced every 6 hours,
 * and the store is down for two minutes and for one each day.
 */
export const ORDINARY: History = {
  duplicates: 0.02,
  lostResponses: 0.005,
  processes: [0, MINUTE].map((shift) => ({
    isUp: (time: number) => (time - shift) % (6 * HOUR) >= 20_000,
  })),
  isStoreDown(time) {
    const minute = (time / MINUTE) % (24 * 60);
    return (minute > 690 && minute < 692) || (minute > 840 && minute < 841);
  },
  handler: quickHandler,
};
