import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { OutcomeRow, Session } from '../../src/api-types.ts';

export const SessionContext = createContext<Session | undefined>(undefined);

/** Who looks at the page, and what the console can do. Inside of `App`'s views it is known. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('A view is shown before the session is known.');
  return session;
}

/** A row of the outcome table; `undefined` for a code of a newer version. */
export const useOutcome = (code: string): OutcomeRow | undefined =>
  (useSession().outcomes as Readonly<Record<string, OutcomeRow | undefined>>)[code];
