import { useEffect, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** Milliseconds that a notice stays. Errors stay until they are closed or displaced. */
const STAYS = 5_000;
const MOST = 4;

interface Notice {
  readonly id: number;
  readonly message: string;
  readonly bad: boolean;
}

let notices: readonly Notice[] = [];
let last = 0;
let draw: (() => void) | undefined;

function set(next: readonly Notice[]): void {
  notices = next;
  draw?.();
}

function add(message: string, bad: boolean): number {
  const id = ++last;
  const others = notices.filter((one) => one.message !== message);
  const kept = others.filter((one) => one.bad === bad).slice(1 - MOST);
  set([...others.filter((one) => one.bad !== bad), ...kept, { id, message, bad }]);
  return id;
}

const close = (id: number) => {
  set(notices.filter((one) => one.id !== id));
};

/** Reports a success. It goes away by itself. */
export function notify(message: string): void {
  const id = add(message, false);
  setTimeout(() => close(id), STAYS);
}

/** Reports an error. The same message is shown once. */
export function notifyError(message: string): void {
  add(message, true);
}

/** Shows the notices. A page has it once. */
export function Notices() {
  const [, redraw] = useState(0);
  useEffect(() => {
    draw = () => redraw((count) => count + 1);
    draw();
    return () => {
      draw = undefined;
    };
  }, []);
  const row = ({ id, message, bad }: Notice) => (
    <div key={id} class={bad ? 'notice notice-bad' : 'notice'}>
      <p>{message}</p>
      <button
        type="button"
        class="ghost small"
        aria-label="Close this message"
        onClick={() => close(id)}
      >
        <Icon name="cross" />
      </button>
    </div>
  );
  return (
    <div class="notice-area">
      <div id="alerts" role="alert">
        {notices.filter(({ bad }) => bad).map(row)}
      </div>
      <div id="notices" role="status">
        {notices.filter(({ bad }) => !bad).map(row)}
      </div>
    </div>
  );
}
