import { useEffect, useState } from 'preact/hooks';
import { moment, span, timeOfDay } from './time-format.ts';

const ticking = new Set<() => void>();
setInterval(() => {
  for (const tick of ticking) tick();
}, 1_000);

/** Renders the component again each second. */
export function useTick(): void {
  const [, redraw] = useState(0);
  useEffect(() => {
    const tick = () => redraw((count) => count + 1);
    ticking.add(tick);
    return () => void ticking.delete(tick);
  }, []);
}

interface TimeProps {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly class?: string;
}

/** A time of day. Its tooltip has the date and the zone. */
export const Time = ({ at, class: classes }: TimeProps) => (
  <time class={classes} title={moment(at)} datetime={new Date(at).toISOString()}>
    {timeOfDay(at)}
  </time>
);

interface CountdownProps extends TimeProps {
  /** The present time, in milliseconds since the epoch. */
  readonly now: () => number;
}

/** The time that is left: `in 4m 52s`, or `now`. */
export function Countdown({ at, now, class: classes }: CountdownProps) {
  useTick();
  const left = at - now();
  return (
    <time class={classes} title={moment(at)} datetime={new Date(at).toISOString()}>
      {left > 0 ? `in ${span(left)}` : 'now'}
    </time>
  );
}
