import { useContext } from 'preact/hooks';
import { Badge, ThemeButton } from '@call-webhooks/ui';
import { useConnection, type Connection } from '../model/connection.ts';
import { ZONE } from '../model/format.ts';
import { SessionContext } from '../model/session.ts';

const WORDS: Readonly<Record<Connection['state'], string>> = {
  connecting: 'Connecting …',
  live: 'Live',
  lost: 'No answer',
  'signed-out': 'Signed out',
};

/** The name of the page, the connection, the time zone, and who looks. */
export function TopBar() {
  const session = useContext(SessionContext);
  const { state } = useConnection();
  return (
    <header class="top">
      <div class="brand">
        <BrandIcon />
        <h1>
          Call webhooks <span class="brand-note">console</span>
        </h1>
      </div>
      <div class="connection" data-connection={state}>
        <span class="dot" aria-hidden="true" />
        <span role="status">{WORDS[state]}</span>
      </div>
      <div class="top-end">
        {session && !session.canWrite && <Badge tone="wait">Read-only</Badge>}
        <span class="zone">Times in {ZONE}</span>
        {session?.name != null && <span class="zone">{session.name}</span>}
        <ThemeButton />
      </div>
    </header>
  );
}

const BrandIcon = () => (
  <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" class="brand-icon">
    <rect width="24" height="24" rx="6" />
    <path d="M4.5 13h3.5l2.3-6.5 3.6 11 2.2-4.5h3.4" />
  </svg>
);
