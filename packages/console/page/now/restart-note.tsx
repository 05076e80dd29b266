import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '@call-webhooks/ui';
import type { Overview } from '../../src/api-types.ts';
import { clockTime } from '../model/format.ts';

/** Says so when the process that answered is gone: its counts and its list began anew. */
export function RestartNote({ overview }: { readonly overview: Overview }) {
  const { process, processes } = overview;
  const before = useRef(process);
  const [restartedAt, setRestartedAt] = useState<number>();
  useEffect(() => {
    if (before.current === process) return;
    const isGone = !processes.some(({ id }) => id === before.current);
    before.current = process;
    if (isGone) setRestartedAt(processes.find(({ id }) => id === process)?.startedAt);
  }, [process, processes]);
  return (
    <div role="status">
      {restartedAt !== undefined && (
        <div class="remark">
          <p>
            Another process answers now. It started at {clockTime(restartedAt)}: the receiver was
            restarted, or there are several of them. Its list of deliveries began then.
          </p>
          <Button
            label="Got it"
            small
            onClick={() => {
              setRestartedAt(undefined);
            }}
          />
        </div>
      )}
    </div>
  );
}
