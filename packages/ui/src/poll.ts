import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

/** What `usePoll` has read. */
export interface Polled<Value> {
  /** The latest value; `undefined` until the first arrived, and after the key changed. */
  readonly value: Value | undefined;
  /** Why the latest read failed. The value before it stays. */
  readonly error: unknown;
  /** Reads now. */
  readonly refresh: () => void;
}

/**
 * Reads something again and again, while the page is visible. A slow read is not overtaken, and one
 * for an earlier key is dropped.
 * @param key reads anew when it changes: the address of what is read
 * @param everyMs milliseconds between the end of a read and the next
 */
export function usePoll<Value>(
  key: string,
  everyMs: number,
  load: (signal: AbortSignal) => Promise<Value>,
): Polled<Value> {
  const [state, setState] = useState<{ key: string; value?: Value; error?: unknown }>({ key });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async () => {
      clearTimeout(timer);
      try {
        const value = await latest.current(stop.signal);
        if (!stop.signal.aborted) setState({ key, value });
      } catch (error) {
        if (!stop.signal.aborted)
          setState((before) => (before.key === key ? { ...before, error } : { key, error }));
      }
      if (!stop.signal.aborted && !document.hidden) timer = setTimeout(() => void read(), everyMs);
    };
    const wake = () => {
      if (!document.hidden) setRound((count) => count + 1);
    };
    document.addEventListener('visibilitychange', wake);
    void read();
    return () => {
      stop.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', wake);
    };
  }, [key, everyMs, round]);
  const refresh = useCallback(() => setRound((count) => count + 1), []);
  const own = state.key === key;
  return { value: own ? state.value : undefined, error: own ? state.error : undefined, refresh };
}
