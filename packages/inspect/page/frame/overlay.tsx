/** A dialog above the page: it holds the focus while it is open, and Escape closes it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface OverlayProps {
  readonly label: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A dialog above the page. */
export function Overlay({ label, onClose, children }: OverlayProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={label}
      onClose={onClose}
      onClick={({ target }) => {
        if (target === dialog.current) dialog.current?.close();
      }}
      onKeyDown={(event) => {
        event.stopPropagation();
      }}
    >
      {children}
    </dialog>
  );
}
