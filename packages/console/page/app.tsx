import { useEffect, useRef } from 'preact/hooks';
import { messageOf, Notices, usePoll } from '@call-webhooks/ui';
import type { DeadLettersPage } from '../src/api-types.ts';
import { get, getSession } from './model/api.ts';
import { SessionContext, useSession } from './model/session.ts';
import { useView, VIEWS, type View } from './model/place.ts';
import { ConnectionBanner } from './parts/connection-banner.tsx';
import { Loading } from './parts/section.tsx';
import { ReadOnlyNote } from './parts/read-only-note.tsx';
import { TopBar } from './parts/top-bar.tsx';
import { Views } from './parts/views.tsx';
import { DeadLettersView } from './dead-letters/dead-letters-view.tsx';
import { DeliveriesView } from './deliveries/deliveries-view.tsx';
import { NowView } from './now/now-view.tsx';
import { ReconcileView } from './reconcile/reconcile-view.tsx';

const SHOWN: Readonly<Record<View, (onLetters: () => void) => preact.JSX.Element>> = {
  now: () => <NowView />,
  deliveries: () => <DeliveriesView />,
  'dead-letters': (onLetters) => <DeadLettersView onChange={onLetters} />,
  reconcile: () => <ReconcileView />,
};

/** The page. The token of a session lasts for hours; it is read again long before. */
export function App() {
  const { value: session, error } = usePoll('session', 60_000, getSession);
  return (
    <SessionContext.Provider value={session}>
      <a class="skip" href="#view" onClick={skip}>
        Skip to the content
      </a>
      <TopBar />
      {session ? <Content /> : <Starting error={error} />}
      <Notices />
    </SessionContext.Provider>
  );
}

/** The page may have a `<base>`, with which `#view` would lead elsewhere. */
const skip = (event: MouseEvent) => {
  event.preventDefault();
  document.getElementById('view')?.focus();
};

const Starting = ({ error }: { readonly error: unknown }) => (
  <main class="view" id="view" tabIndex={-1}>
    {error === undefined ? (
      <Loading />
    ) : (
      <p class="form-error" role="alert">
        {messageOf(error)}
      </p>
    )}
  </main>
);

function Content() {
  const view = useView();
  const { waiting, refresh } = useWaiting();
  const title = VIEWS.find(([name]) => name === view)?.[1] ?? '';
  const main = useRef<HTMLElement>(null);
  const shown = useRef(view);
  useEffect(() => {
    document.title = `${title} · Call webhooks: console`;
    document.body.dataset['ready'] = view;
    if (shown.current === view) return;
    shown.current = view;
    main.current?.focus({ preventScroll: true });
    scrollTo({ top: 0 });
  }, [view, title]);
  return (
    <>
      <Views current={view} waiting={waiting} />
      <ConnectionBanner />
      <main class="view" id="view" tabIndex={-1} ref={main} aria-label={title}>
        <ReadOnlyNote />
        {SHOWN[view](refresh)}
      </main>
    </>
  );
}

/** How many dead letters wait; `undefined` while that is not known. */
function useWaiting() {
  const { deadLetters } = useSession();
  const { value, refresh } = usePoll(`waiting ${String(deadLetters)}`, 10_000, async (signal) =>
    deadLetters === null
      ? undefined
      : get<DeadLettersPage>('api/dead-letters', { limit: 1 }, signal),
  );
  return { waiting: value?.total, refresh };
}
