import { useEffect, useRef, useState } from 'preact/hooks';

interface Task {
  readonly id: string;
}

/**
 * What a POST just answered, until the next poll has. A poll from before the POST must not hide it, and
 * it must not stay when the process that answered it is gone.
 * @param polled what the poll has read; a new object for each read
 */
export function useStarted<Value>(
  polled: Value | undefined,
): readonly [Value | undefined, (started: Value) => void] {
  const [started, setStarted] = useState<{ value: Value; instead: Value | undefined }>();
  const latest = useRef(polled);
  latest.current = polled;
  const value = started && started.instead === polled ? started.value : polled;
  const set = (next: Value) => {
    setStarted({ value: next, instead: latest.current });
  };
  return [value, set];
}

/** Whether a task that ran is not known any more: its process was restarted, or another one answers. */
export function useLost(task: Task | undefined, isRunning: boolean, isRead: boolean): boolean {
  const watched = useRef<string | undefined>(undefined);
  const [isLost, setLost] = useState(false);
  const id = task?.id;
  useEffect(() => {
    if (isRunning) {
      watched.current = id;
      setLost(false);
    } else if (isRead) {
      if (watched.current !== undefined && watched.current !== id) setLost(true);
      watched.current = undefined;
    }
  }, [id, isRunning, isRead]);
  return isLost;
}
