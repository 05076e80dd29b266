import './style/index.css';
import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { messageOf, Notices, restoreTheme, usePoll } from '@call-webhooks/ui';
import type { Session } from '../src/api-types.ts';
import { get } from './model/api.ts';
import { SessionContext, TaskContext, useTaskControl } from './model/session.ts';
import { useView, VIEWS, type View } from './model/place.ts';
import { Boundary } from './parts/boundary.tsx';
import { ConnectionBanner, ReadOnlyNote, Top, Views } from './parts/frame.tsx';
import { Loading } from './parts/section.tsx';
import { DeadLettersView } from './dead-letters/dead-letters-view.tsx';
import { DeliveriesView } from './deliveries/deliveries-view.tsx';
import { NowView } from './now/now-view.tsx';
import { ReconcileView } from './reconcile/reconcile-view.tsx';

const SHOWN: Readonly<Record<View, () => preact.JSX.Element>> = {
  now: NowView,
  deliveries: DeliveriesView,
  'dead-letters': DeadLettersView,
  reconcile: ReconcileView,
};

/** The page. */
function App() {
  const { value: session, error } = usePoll('session', 60_000, (signal) =>
    get<Session>('api/session', {}, signal),
  );
  return (
    <SessionContext.Provider value={session}>
      <a class="skip" href="#view" onClick={skip}>
        Skip to main content
      </a>
      <Top />
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
  const control = useTaskControl();
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
  const Shown = SHOWN[view];
  return (
    <TaskContext.Provider value={control}>
      <Views current={view} waiting={control.tasks?.waiting ?? 0} />
      <ConnectionBanner />
      <main class="view" id="view" tabIndex={-1} ref={main} aria-label={title}>
        <ReadOnlyNote />
        <Boundary key={view}>
          <Shown />
        </Boundary>
      </main>
    </TaskContext.Provider>
  );
}

restoreTheme();
const place = document.getElementById('app');
if (place) render(<App />, place);
