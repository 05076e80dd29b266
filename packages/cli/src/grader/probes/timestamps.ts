import { accepted, isAcknowledged, notedUnless, refused } from '../findings.ts';
import type { Probe } from '../probe.ts';
import { SPEC } from '../spec.ts';

const stamped = (
  id: string,
  title: string,
  weight: number,
  aheadSeconds: number,
  fix: string,
): Probe => {
  const isRefused = Math.abs(aheadSeconds) > 300;
  return {
    id,
    group: 'time',
    title,
    spec: SPEC.timestamp,
    fix,
    weight,
    needs: ['secret'],
    ...(isRefused && { provesRefusal: true }),
    async run(receiver) {
      const { body } = isRefused ? receiver.refusedEvent() : receiver.event();
      const timestamp = receiver.now() + aheadSeconds;
      const answer = await receiver.send(receiver.sign(body, { timestamp }));
      return isRefused ? refused(answer) : accepted(answer);
    },
  };
};

const NUMBER = 'Refuse a timestamp unless all of it is digits. Do not use parseInt or its like.';

const text = (
  id: string,
  title: string,
  of: (now: number) => string,
  { weight = 2, spec = SPEC.timestamp } = {},
): Probe => ({
  id,
  group: 'time',
  title,
  spec,
  fix: NUMBER,
  weight,
  needs: ['secret'],
  ...(weight > 0 && { provesRefusal: true }),
  async run(receiver) {
    const { body } = weight > 0 ? receiver.refusedEvent() : receiver.event();
    const answer = await receiver.send(receiver.sign(body, { timestamp: of(receiver.now()) }));
    return weight > 0 ? refused(answer) : notedUnless((one) => !isAcknowledged(one), answer);
  },
});

const PAST = 'Refuse a timestamp that is more than 300 s old.';
const FUTURE = 'Refuse a timestamp that is more than 300 s ahead: check both directions.';
const WINDOW = 'Accept a difference of up to 300 s: clocks differ, and networks are slow.';

export const timestamps: readonly Probe[] = [
  stamped('stale', 'Signed an hour ago', 8, -3_600, PAST),
  stamped('stale-edge', 'Signed 310 s ago', 4, -310, PAST),
  stamped('old-in-time', 'Signed 290 s ago', 4, -290, WINDOW),
  stamped('future', 'Signed an hour ahead', 6, 3_600, FUTURE),
  stamped('future-edge', 'Signed 310 s ahead', 4, 310, FUTURE),
  stamped('ahead-in-time', 'Signed 290 s ahead', 4, 290, WINDOW),
  text('timestamp-text', 'A timestamp that is a word', () => 'now', { weight: 3 }),
  text('timestamp-nan', 'NaN as the timestamp', () => 'NaN', { weight: 3 }),
  text('timestamp-trailing-text', 'Letters after the timestamp', (now) => `${now}abc`),
  text('timestamp-milliseconds', 'A timestamp in milliseconds', (now) => `${now}000`, {
    weight: 3,
  }),
  text('timestamp-negative', 'A negative timestamp', (now) => `-${now}`),
  text('timestamp-fraction', 'A timestamp with a fraction', (now) => `${now}.5`, {
    weight: 0,
    spec: SPEC.notShown,
  }),
  text('timestamp-exponent', 'A timestamp with an exponent', (now) => `${now}e0`, {
    weight: 0,
    spec: SPEC.notShown,
  }),
];
