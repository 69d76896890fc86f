// Starts the operator page.
import { OperatorPage } from "./components/operator/OperatorPage.tsx";
import { start } from "./start.tsx";

start(<OperatorPage />);
