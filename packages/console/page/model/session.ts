import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { notify, usePoll } from '@call-webhooks/ui';
import type {
  ErasureRequest,
  LettersRequest,
  ReconcileRequest,
  Session,
  Tasks,
} from '../../src/api-types.ts';
import { get, post } from './api.ts';
import { summaryOf, TASKS, type TaskName } from './words.ts';

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

/** What runs or ran last, in whichever process, and what starts them. */
export interface TaskControl {
  readonly tasks: Tasks | undefined;
  /** Why they could not be read. */
  readonly error: unknown;
  readonly refresh: () => void;
  /** @throws ApiError `already-running`, for instance */
  readonly redrive: (request: LettersRequest) => Promise<void>;
  /** @throws ApiError `already-running`, for instance */
  readonly remove: (request: LettersRequest) => Promise<void>;
  /** @throws ApiError `already-running`, for instance */
  readonly erase: (request: ErasureRequest) => Promise<void>;
  readonly reconcile: (request: ReconcileRequest) => Promise<void>;
  /** No further letter or call is begun. @throws ApiError */
  readonly stop: (task: TaskName) => Promise<void>;
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
  const all = [tasks?.redrive, tasks?.removal, tasks?.erasure, tasks?.reconcile];
  const running = all.some((task) => task?.state === 'running');
  useEffect(() => setRunning(running), [running]);
  const change = async (path: string, body?: unknown) => {
    const instead = polled.current;
    setChanged({ tasks: await post<Tasks>(path, body), instead });
    refresh();
  };
  useEndNotices(tasks);
  return {
    ...{ tasks, error, refresh },
    redrive: (request) => change('api/redrive', request),
    remove: (request) => change('api/remove', request),
    erase: (request) => change('api/erase', request),
    reconcile: (request) => change('api/reconcile', request),
    stop: (task) => change(`api/${PATHS[task]}/stop`),
  };
}

/** How the API names what starts a task. */
const PATHS: Readonly<Record<TaskName, string>> = {
  ...{ redrive: 'redrive', removal: 'remove', erasure: 'erase', reconcile: 'reconcile' },
};

/** Says how a task ended that was seen running: whoever waits for it may look at something else by now. */
function useEndNotices(tasks: Tasks | undefined): void {
  const running = useRef(new Set<string>());
  useEffect(() => {
    for (const [name, [title, names]] of Object.entries(TASKS)) {
      const task = tasks?.[name as TaskName];
      if (task?.state === 'running') running.current.add(task.id);
      else if (task && running.current.delete(task.id))
        notify(`${title} ended: ${summaryOf(names, task.counts)}.`);
    }
  }, [tasks]);
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
