import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { usePoll } from '@call-webhooks/ui';
import type { RedriveRequest, ReconcileRequest, Session, Tasks } from '../../src/api-types.ts';
import { get, post } from './api.ts';

export const SessionContext = createContext<Session | undefined>(undefined);

/** Who looks at the page, and what the console can do. Inside of `App`'s views it is known. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('A view is shown before the session is known.');
  return session;
}

/** A row of the outcome table; `undefined` for a code of a newer version. */
export const useOutcome = (code: string): Session['outcomes']['handled'] | undefined =>
  (useSession().outcomes as Partial<Session['outcomes']>)[code as 'handled'];

/** The redrive and the reconcile that run or ran last, in whichever process, and what starts them. */
export interface TaskControl {
  readonly tasks: Tasks | undefined;
  /** Why they could not be read. */
  readonly error: unknown;
  readonly refresh: () => void;
  /** @throws ApiError `already-running`, for instance */
  readonly redrive: (request: RedriveRequest) => Promise<void>;
  readonly reconcile: (request: ReconcileRequest) => Promise<void>;
  /** No further letter or call is begun. @throws ApiError */
  readonly stop: (task: 'redrive' | 'reconcile') => Promise<void>;
}

export const TaskContext = createContext<TaskControl | undefined>(undefined);

export function useTasks(): TaskControl {
  const control = useContext(TaskContext);
  if (!control) throw new Error('A view is shown outside of the app.');
  return control;
}

/** Reads the tasks: each second while one runs, so that every view and the tab's badge keep up. */
export function useTaskControl(): TaskControl {
  const [isRunning, setRunning] = useState(false);
  const { value, error, refresh } = usePoll('tasks', isRunning ? 1_000 : 5_000, (signal) =>
    get<Tasks>('api/tasks', {}, signal),
  );
  const [changed, setChanged] = useState<{ tasks: Tasks; instead: Tasks | undefined }>();
  const polled = useRef(value);
  polled.current = value;
  // What a POST answered, until the next poll has: one from before the POST must not hide it.
  const tasks = changed && changed.instead === value ? changed.tasks : value;
  const running = [tasks?.redrive, tasks?.reconcile].some((task) => task?.state === 'running');
  useEffect(() => setRunning(running), [running]);
  const change = async (path: string, body?: unknown) => {
    const instead = polled.current;
    setChanged({ tasks: await post<Tasks>(path, body), instead });
    refresh();
  };
  return {
    ...{ tasks, error, refresh },
    redrive: (request) => change('api/redrive', request),
    reconcile: (request) => change('api/reconcile', request),
    stop: (task) => change(`api/${task}/stop`),
  };
}

/** Calls a function when what is given changes, not at first. */
export function useChange(text: string, onChange: () => void): void {
  const before = useRef(text);
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    if (before.current === text) return;
    before.current = text;
    latest.current();
  }, [text]);
}
