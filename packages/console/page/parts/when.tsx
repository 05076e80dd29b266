import { moment, useTick } from '@call-webhooks/ui';
import { ago, shortTime } from '../model/format.ts';

interface WhenProps {
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A time of today, with the day for others. Its tooltip has the date, the zone and UTC. */
export const When = ({ at }: WhenProps) => (
  <time title={moment(at)} dateTime={new Date(at).toISOString()}>
    {shortTime(at)}
  </time>
);

/** `4 min ago`, and it stays true. */
export function Ago({ at }: WhenProps) {
  useTick();
  return (
    <time title={moment(at)} dateTime={new Date(at).toISOString()}>
      {ago(at)}
    </time>
  );
}
