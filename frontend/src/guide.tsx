// Starts the page that shows a document of the guide, or a note.
import { GuidePage } from "./components/pages/GuidePage.tsx";
import { start } from "./start.tsx";

start(<GuidePage path={location.pathname} />);
