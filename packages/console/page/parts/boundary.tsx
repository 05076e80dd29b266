import { Component, type ComponentChildren } from 'preact';
import { Button, messageOf } from '@call-webhooks/ui';
import { Empty } from './section.tsx';

interface BoundaryProps {
  readonly children: ComponentChildren;
}

interface BoundaryState {
  readonly failed?: { readonly error: unknown };
}

/** Shows what went wrong in place of a view that cannot be drawn, so that the links to the others stay. */
export class Boundary extends Component<BoundaryProps, BoundaryState> {
  static override getDerivedStateFromError(error: unknown): BoundaryState {
    return { failed: { error } };
  }

  override render({ children }: BoundaryProps, { failed }: BoundaryState) {
    if (!failed) return children;
    return (
      <div role="alert">
        <Empty title="This view cannot be shown">
          <p>{messageOf(failed.error)}</p>
          <p>
            The other views still work. If reloading does not help, this page may be older or newer
            than the receiver that responded.
          </p>
          <Button label="Reload" onClick={() => location.reload()} />
        </Empty>
      </div>
    );
  }
}
