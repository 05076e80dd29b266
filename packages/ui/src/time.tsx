import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { moment, span, timeOfDay } from './format.ts';

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
  /** The time of day by default. */
  readonly children?: ComponentChildren;
}

/** A time. Its tooltip has the date and the zone. */
export const Time = ({ at, class: classes, children = timeOfDay(at) }: TimeProps) => (
  <time class={classes} title={moment(at)} datetime={new Date(at).toISOString()}>
    {children}
  </time>
);

interface CountdownProps {
  readonly at: number;
  /** The present time, in milliseconds since the epoch. */
  readonly now: () => number;
}

/** The time that is left: `in 4m 52s`, or `now`. */
export function Countdown({ at, now }: CountdownProps) {
  useTick();
  const left = at - now();
  return <Time at={at}>{left > 0 ? `in ${span(left)}` : 'now'}</Time>;
}
