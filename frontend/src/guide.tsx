// Starts the page of a guide document or a note.
import { GuidePage } from "./components/pages/GuidePage.tsx";
import { start } from "./start.tsx";

start(<GuidePage path={location.pathname} />);
