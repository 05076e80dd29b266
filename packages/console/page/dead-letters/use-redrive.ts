import { useEffect, useRef, useState } from 'preact/hooks';
import { usePoll } from '@call-webhooks/ui';
import type { RedriveRequest, RedriveTask } from '../../src/api-types.ts';
import { get, post } from '../model/api.ts';
import { useLost, useStarted } from '../model/use-started.ts';

/** The redrive that runs, or the last one. */
export interface Redrive {
  readonly task: RedriveTask | undefined;
  readonly isRunning: boolean;
  /** Whether one ran that the process which answers does not know. */
  readonly isLost: boolean;
  /** @throws ApiError `already-running`, for instance */
  readonly start: (request: RedriveRequest) => Promise<void>;
  /** No further letter is begun. @throws ApiError */
  readonly abort: () => Promise<void>;
}

interface Answer {
  task?: RedriveTask;
}

/** @param onChange called after each letter that was run */
export function useRedrive(onChange: () => void): Redrive {
  const [isRunning, setRunning] = useState(false);
  const { value, refresh } = usePoll('redrive', isRunning ? 400 : 5_000, (signal) =>
    get<Answer>('api/redrive', {}, signal),
  );
  const [answer, setStarted] = useStarted(value);
  const task = answer?.task;
  const running = task?.state === 'running';
  useEffect(() => {
    setRunning(running);
  }, [running]);
  const isLost = useLost(task, running, value !== undefined);
  const progress = task && `${task.id} ${task.state} ${JSON.stringify(task.counts)}`;
  const before = useRef(progress);
  useEffect(() => {
    if (before.current !== undefined && before.current !== progress) onChange();
    before.current = progress ?? '';
  }, [progress, onChange]);
  return {
    task,
    isRunning: running,
    isLost,
    async start(request) {
      setStarted(await post<Answer>('api/redrive', request));
      refresh();
    },
    async abort() {
      await post('api/redrive/abort');
      refresh();
    },
  };
}
