import { useContext } from 'preact/hooks';
import { Badge, Button, count, moment, ThemeButton, timeOfDay, TopBar } from '@call-webhooks/ui';
import { lastAnswer, useConnection, type Connection } from '../model/api.ts';
import { VIEWS, type View } from '../model/place.ts';
import { SessionContext, useSession } from '../model/session.ts';
import { Link } from './cells.tsx';

/** The time zone of every time on the page: `Europe/Oslo`. */
const ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

const WORDS: Readonly<Record<Connection['state'], string>> = {
  connecting: 'Connecting …',
  live: 'Live',
  lost: 'No response',
  'signed-out': 'Signed out',
};

/** The connection, the time zone, and who looks. */
export function Top() {
  const session = useContext(SessionContext);
  const { state } = useConnection();
  return (
    <TopBar page="console" icon={<BrandIcon />} connection={state} words={WORDS[state]}>
      <div class="top-end">
        {session && !session.canWrite && <Badge tone="wait">Read-only</Badge>}
        <span class="zone">Times in {ZONE}</span>
        {session?.name != null && <span class="zone">{session.name}</span>}
        <ThemeButton />
      </div>
    </TopBar>
  );
}

const BrandIcon = () => (
  <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" class="brand-icon">
    <rect width="24" height="24" rx="6" />
    <path d="M4.5 13h3.5l2.3-6.5 3.6 11 2.2-4.5h3.4" />
  </svg>
);

interface ViewsProps {
  readonly current: View;
  /** How many dead letters wait. */
  readonly waiting: number;
}

/** The links to the views. */
export const Views = ({ current, waiting }: ViewsProps) => (
  <nav class="views" aria-label="Views">
    <ul>
      {VIEWS.map(([view, title]) => (
        <li key={view}>
          <Link to={view} class="view-link" current={view === current}>
            {title}
            {view === 'dead-letters' && waiting > 0 && (
              <span class="tab-count" data-bad="">
                {count(waiting)}
                <span class="visually-hidden"> waiting</span>
              </span>
            )}
          </Link>
        </li>
      ))}
    </ul>
  </nav>
);

/** Says what is wrong while the receiver does not respond, and what to do. */
export function ConnectionBanner() {
  const { state } = useConnection();
  return (
    <div role="alert">
      {state === 'lost' && <Lost />}
      {state === 'signed-out' && <SignedOut />}
    </div>
  );
}

function SignedOut() {
  const { signIn } = useSession();
  return (
    <div class="banner">
      <p>
        Your session has ended, or you no longer have access to this console. This page is out of
        date.
      </p>
      {signIn === null ? (
        <Button label="Reload" onClick={() => location.reload()} />
      ) : (
        <a class="button" href={signIn}>
          Sign in
        </a>
      )}
    </div>
  );
}

function Lost() {
  const at = lastAnswer();
  return (
    <div class="banner">
      <p>
        {navigator.onLine
          ? 'The receiver is not responding. It may be restarting or stopped, or the network may be down.'
          : 'This computer is offline.'}{' '}
        {at !== undefined && (
          <>
            The page shows data from <span title={moment(at)}>{timeOfDay(at)}</span>.
          </>
        )}{' '}
        The page keeps trying to reconnect.
      </p>
    </div>
  );
}

/** Says why there are no buttons that change anything. */
export function ReadOnlyNote() {
  const { canWrite, readOnly } = useSession();
  if (canWrite) return null;
  return (
    <p class="read-only">
      <strong>Read-only.</strong>{' '}
      {readOnly
        ? 'This console was created with readOnly, so nothing can be redriven, removed or reconciled here, and personal data stays masked.'
        : 'You can view this console, but you cannot redrive, remove, reconcile or show personal data. If you need to, ask the person who runs this receiver.'}
    </p>
  );
}
