import { useEffect, useState } from 'preact/hooks';

/** Whether the receiver answers, and answers this person. */
export interface Connection {
  readonly state: 'connecting' | 'live' | 'lost' | 'signed-out';
  /** When it last answered; milliseconds since the epoch. */
  readonly answeredAt: number | undefined;
}

let connection: Connection = { state: 'connecting', answeredAt: undefined };
const listeners = new Set<(connection: Connection) => void>();

/** Tells the page how a request went. */
export function report(state: Exclude<Connection['state'], 'connecting'>): void {
  connection = { state, answeredAt: state === 'live' ? Date.now() : connection.answeredAt };
  for (const listener of listeners) listener(connection);
}

/** The component renders again when the connection changes, not with each answer. */
export function useConnection(): Connection {
  const [known, setKnown] = useState(connection);
  useEffect(() => {
    const listener = (next: Connection) => {
      setKnown((before) => (before.state === next.state ? before : next));
    };
    listener(connection);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return known;
}

/** When the receiver last answered. */
export const lastAnswer = (): number | undefined => connection.answeredAt;
