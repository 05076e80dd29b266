import { useEffect, useRef, useState } from 'preact/hooks';
import { usePoll } from '@call-webhooks/ui';
import type { RedriveRequest, RedriveTask } from '../../src/api-types.ts';
import { get, post } from '../model/api.ts';

/** The redrive that runs, or the last one. */
export interface Redrive {
  readonly task: RedriveTask | undefined;
  readonly isRunning: boolean;
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
  const [started, setStarted] = useState<RedriveTask>();
  const polled = value?.task;
  const isNewer = started && (!polled || polled.startedAt < started.startedAt);
  const task = isNewer ? started : polled;
  const running = task?.state === 'running';
  useEffect(() => {
    setRunning(running);
  }, [running]);
  const progress = task && `${task.id} ${task.state} ${JSON.stringify(task.counts)}`;
  const before = useRef(progress);
  useEffect(() => {
    if (before.current !== undefined && before.current !== progress) onChange();
    before.current = progress ?? '';
  }, [progress, onChange]);
  return {
    task,
    isRunning: running,
    async start(request) {
      setStarted((await post<Answer>('api/redrive', request)).task);
      refresh();
    },
    async abort() {
      await post('api/redrive/abort');
      refresh();
    },
  };
}
